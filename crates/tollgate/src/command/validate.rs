//! `tollgate validate`: everything that is wrong with a policy, or what it comes to.

use std::path::Path;

use tollgate_policy::file::Severity;

use super::{effective, load};
use crate::outcome::{Failure, note, print};

/// Prints every error, or every warning and what the limits come to.
pub(crate) fn run(path: &Path) -> Result<(), Failure> {
    let read = load::read(path)?;
    let policy = load::compile(path, &read)?;
    note(&read.warnings.render());
    print(&effective::limits(policy.settings()))?;
    let settings = policy.settings();
    let count =
        |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    print(&format!(
        "{}: {}, {}, {}, {}: it may run\n",
        path.display(),
        count(settings.limits.len(), "limit"),
        count(settings.routes.len(), "route"),
        count(read.tests.len(), "test"),
        count(read.warnings.count(Severity::Warning), "warning"),
    ))
}
