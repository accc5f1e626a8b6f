//! Starting other programs, with a word about what is being done.

use std::path::PathBuf;
use std::process::Command;

/// The workspace's root folder.
pub(crate) fn root() -> PathBuf {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().map_or(manifest.clone(), PathBuf::from)
}

/// The cargo that runs this task.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs `command` to its end, under the heading `what`.
pub(crate) fn run(what: &str, command: &mut Command) -> Result<(), String> {
    eprintln!("== {what}");
    let status = command
        .status()
        .map_err(|error| format!("{what}: {:?} does not start: {error}", command.get_program()))?;
    if status.success() { Ok(()) } else { Err(format!("{what}: failed ({status})")) }
}
