//! What the program says while it runs: one line an event, on standard error.

mod lines;

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

pub(crate) use lines::Lines;

/// Starts logging, until the answer is dropped. `TOLLGATE_LOG` chooses what is said (`warn`, `tollgate_server=debug`, ...);
/// without it, `info`.
///
/// A log that takes nothing (a full disk, a reader that is stuck or gone) costs lines, and never a request.
///
/// # Errors
/// What is wrong with `TOLLGATE_LOG`, or why no thread can be had.
pub(crate) fn start() -> Result<Lines, String> {
    let filter = EnvFilter::builder()
        .with_env_var("TOLLGATE_LOG")
        .with_default_directive(LevelFilter::INFO.into())
        .from_env()
        .map_err(|error| {
            format!("TOLLGATE_LOG: {error}; write a level such as `info`, or `target=level`")
        })?;
    let lines = Lines::to(io::stderr())
        .map_err(|error| format!("no thread for the log can be started: {error}"))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(lines.writer())
        .with_ansi(io::stderr().is_terminal())
        // It would say so on standard error, and panic where that is what takes nothing.
        .log_internal_errors(false)
        .try_init()
        .map_err(|error| error.to_string())?;
    Ok(lines)
}
