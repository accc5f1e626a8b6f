//! `tollgate schema`: the JSON Schema of policy files.

use tollgate_policy::file::json_schema;

use crate::outcome::{Failure, print};

/// Prints the schema.
pub(crate) fn run() -> Result<(), Failure> {
    print(&format!("{:#}\n", json_schema()))
}
