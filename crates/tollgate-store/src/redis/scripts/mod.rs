//! The scripts that a server runs, from fragments of Lua.

mod fragment;
mod library;
mod part;
mod program;

pub(crate) use library::{Library, Program, beat, first_load, forget, give_back, lease, replace};
pub(crate) use part::{Kind, Part};
