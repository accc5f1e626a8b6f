//! The scripts that a server runs, from fragments of Lua.

mod fragment;
mod library;
mod part;
mod program;

pub(crate) use library::{Library, Program, beat, first_load, give_back, replace};
pub(crate) use part::{Kind, Part};
