//! What the program says while it runs: one line an event, on standard error.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// Starts logging. `TOLLGATE_LOG` chooses what is said (`warn`, `tollgate_server=debug`, ...); without it, `info`.
///
/// # Errors
/// What is wrong with `TOLLGATE_LOG`.
pub(crate) fn start() -> Result<(), String> {
    let filter = EnvFilter::builder()
        .with_env_var("TOLLGATE_LOG")
        .with_default_directive(LevelFilter::INFO.into())
        .from_env()
        .map_err(|error| {
            format!("TOLLGATE_LOG: {error}; write a level such as `info`, or `target=level`")
        })?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .try_init()
        .map_err(|error| error.to_string())
}
