//! The policy file's JSON Schema, from the same declarations that decode it.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::policy_file::PolicyFile;

/// The JSON Schema (draft 2020-12) of a policy file. Editors check and complete policies with it.
#[must_use]
pub fn json_schema() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<PolicyFile>();
    schema.insert("title".to_owned(), json!("Tollgate policy"));
    schema.to_value()
}
