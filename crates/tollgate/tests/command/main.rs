//! The built `tollgate` command, from outside: files in, lines, words and an exit status out.

mod bad_input;
mod formats;
mod merging;
mod policies;
mod settling;
mod virtual_time;
mod workshop;
