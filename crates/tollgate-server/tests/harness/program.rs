//! Clients that others wrote, as people have them installed.

use std::process::{Command, Output, Stdio};

/// A program, where it is installed. Where it is not the test is skipped, unless it runs where `CI=true`.
pub(crate) fn program(name: &str) -> Option<Program> {
    let found = Command::new(name).arg("--version").stdout(Stdio::null()).status();
    if found.is_ok_and(|status| status.success()) {
        return Some(Program(name.to_owned()));
    }
    let message = format!("skipped: {name} is not installed; scripts/setup.sh installs it");
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{message}");
    eprintln!("{message}");
    None
}

/// A program that is there.
pub(crate) struct Program(String);

impl Program {
    /// Runs it with `words`; what it wrote.
    #[track_caller]
    pub(crate) fn run(&self, words: &[&str]) -> Output {
        Command::new(&self.0).args(words).stdin(Stdio::null()).output().expect("it runs")
    }

    /// As [`Program::run`]: it ends well. What it wrote to its standard output, as text.
    #[track_caller]
    pub(crate) fn says(&self, words: &[&str]) -> String {
        let output = self.run(words);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} {words:?}: {complaint}{said}", self.0);
        said
    }
}
