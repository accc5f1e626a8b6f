//! How a command ends, and its words on the standard streams.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

/// Why a command did not do what it was asked. Its text is for a person; printed it ends with exit status 1.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input was wrong, or something that it needs was.
    Wrong(String),
    /// A test failed, or an input was wrong, and that was said already.
    Said,
    /// Whoever read our output has gone; there is nobody to tell.
    ReaderGone,
}

impl Failure {
    pub(crate) fn wrong(what: impl fmt::Display) -> Failure {
        Failure::Wrong(what.to_string())
    }

    /// Ends the program: says what is wrong unless that was done. Output that nobody reads is no fault (`| head`).
    pub(crate) fn end(self) -> ExitCode {
        match self {
            Failure::ReaderGone => return ExitCode::SUCCESS,
            Failure::Said => {}
            // Where even standard error is closed there is nobody to tell.
            Failure::Wrong(what) => drop(writeln!(io::stderr(), "tollgate: {what}")),
        }
        ExitCode::FAILURE
    }
}

impl From<io::Error> for Failure {
    /// An error of the standard streams.
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::Wrong(format!("standard output: {error}")),
        }
    }
}

/// Writes `text` to standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes `text` to standard error, where notes and summaries go; that nobody reads it is no fault.
pub(crate) fn note(text: &str) {
    drop(io::stderr().lock().write_all(text.as_bytes()));
}
