//! The scripts that a server runs, from fragments of Lua.

mod fragment;
mod library;
mod part;
mod program;

pub(crate) use library::{Library, Program};
pub(crate) use part::{Kind, Part};
pub(crate) use program::Mix;
