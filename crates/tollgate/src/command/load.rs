//! Reads a policy file for a command.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use tollgate_policy::Policy;
use tollgate_policy::file::{self, MAX_FILE_BYTES, Read, Severity, Surroundings};

use crate::outcome::{Failure, note};

/// Reads the policy file at `path`.
///
/// # Errors
/// Where it cannot be read, or something is wrong with it; all of that is said.
pub(crate) fn read(path: &Path) -> Result<Read, Failure> {
    let read = file::read(&path.display().to_string(), &text(path)?, &surroundings(path));
    read.map_err(|report| {
        note(&report.render());
        let errors = report.count(Severity::Error);
        let plural = if errors == 1 { "" } else { "s" };
        note(&format!("{}: {errors} error{plural}\n", path.display()));
        Failure::Said
    })
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

/// Compiles what was read from `path`.
///
/// # Errors
/// Where a table or a key cannot be read, or the like.
pub(crate) fn compile(path: &Path, read: &Read) -> Result<Policy, Failure> {
    Policy::compile(read.settings.clone()).map_err(|error| {
        let lines = error.problems.iter();
        let lines = lines.map(|problem| {
            let named = place(read, problem.place);
            format!("{}: {named}: {}", path.display(), problem.text)
        });
        Failure::wrong(lines.collect::<Vec<_>>().join("\ntollgate: "))
    })
}

/// What a problem concerns, by its name in the file.
fn place(read: &Read, place: tollgate_policy::Place) -> String {
    use tollgate_policy::Place;
    let settings = &read.settings;
    let named = match place {
        Place::Table(at) => settings.tables.get(at).map(|table| format!("table `{}`", table.name)),
        Place::Identity(at) => {
            settings.identities.get(at).map(|identity| format!("identity `{}`", identity.name))
        }
        Place::Limit(at) => settings.limits.get(at).map(|limit| format!("limit `{}`", limit.name)),
        Place::Route(_) => None,
    };
    named.unwrap_or_else(|| place.to_string())
}
