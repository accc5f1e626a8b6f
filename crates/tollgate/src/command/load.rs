//! Reads a policy file for a command.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use tollgate_policy::Policy;
use tollgate_policy::file::{self, MAX_FILE_BYTES, Read, Report, Severity, Surroundings};

use crate::outcome::{Failure, note};

/// Reads the policy file at `path`.
///
/// # Errors
/// Where it cannot be read, or something is wrong with it; all of that is said.
pub(crate) fn read(path: &Path) -> Result<Read, Failure> {
    let read = file::read(&path.display().to_string(), &text(path)?, &surroundings(path));
    read.map_err(|report| say(path, &report))
}

/// What the policy file at `path` may see: the process's environment, and the files beside it.
pub(crate) fn surroundings(path: &Path) -> Surroundings {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    Surroundings::of_process(parent.unwrap_or(Path::new(".")))
}

/// The text of the file at `path`.
///
/// # Errors
/// Where it cannot be read, is no UTF-8, or is larger than a policy may be.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    let wrong =
        |what: &dyn std::fmt::Display| Failure::wrong(format!("{}: {what}", path.display()));
    let file = File::open(path).map_err(|error| wrong(&error))?;
    let mut bytes = Vec::new();
    let longest = MAX_FILE_BYTES as u64;
    file.take(longest + 1).read_to_end(&mut bytes).map_err(|error| wrong(&error))?;
    if bytes.len() as u64 > longest {
        return Err(wrong(&format!("larger than {longest} bytes, the most that is read")));
    }
    String::from_utf8(bytes).map_err(|error| wrong(&format!("no UTF-8 text: {error}")))
}

/// Compiles what was read.
///
/// # Errors
/// Where a table or a key cannot be read, or the like; all of that is said.
pub(crate) fn compile(path: &Path, read: &Read) -> Result<Policy, Failure> {
    read.compile().map_err(|report| say(path, &report))
}

/// Says all that `report` has to say of `path`.
pub(crate) fn say(path: &Path, report: &Report) -> Failure {
    note(&report.render());
    let errors = report.count(Severity::Error);
    let plural = if errors == 1 { "" } else { "s" };
    note(&format!("{}: {errors} error{plural}\n", path.display()));
    Failure::Said
}
