//! Lets the built command decide a trace.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::model::policy::Policy;
use crate::model::trace::Request;
use crate::model::yaml::policy_file;

/// The decision lines that `tollgate replay` writes, or what it said on failing.
pub(crate) fn replay(policy: &Policy, requests: &[Request]) -> Result<Vec<Value>, String> {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let [policy_path, requests_path, decisions_path] =
        ["policy.yaml", "requests.jsonl", "decisions.jsonl"].map(|name| folder.path().join(name));
    fs::write(&policy_path, policy_file(policy)).expect("a temporary file");
    let lines: String = requests.iter().map(|request| request.line() + "\n").collect();
    fs::write(&requests_path, lines).expect("a temporary file");
    let output = Command::new(env!("CARGO_BIN_EXE_tollgate"))
        .arg("replay")
        .arg("--policy")
        .arg(&policy_path)
        .arg("--requests")
        .arg(&requests_path)
        .arg("--decisions")
        .arg(&decisions_path)
        .env_remove("TOLLGATE_MODE")
        .output()
        .expect("the command runs");
    if !output.status.success() {
        return Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    let decisions =
        fs::read_to_string(&decisions_path).map_err(|error| format!("no decisions: {error}"))?;
    decisions
        .lines()
        .map(|line| serde_json::from_str(line).map_err(|error| format!("{error}: {line}")))
        .collect()
}
