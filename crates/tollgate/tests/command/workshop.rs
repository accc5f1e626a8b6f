//! A folder of its own for each test, and the command run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// A folder that ends with the test.
pub(crate) struct Workshop(TempDir);

/// What a run of the command left.
pub(crate) struct Ran {
    /// Its exit status.
    pub(crate) status: i32,
    /// Its standard output.
    pub(crate) out: String,
    /// Its standard error.
    pub(crate) err: String,
}

impl Workshop {
    /// A folder with `policy` in `policy.yaml`.
    pub(crate) fn with(policy: &str) -> Workshop {
        let workshop = Workshop(tempfile::tempdir().expect("a temporary folder"));
        workshop.write("policy.yaml", policy);
        workshop
    }

    /// Writes a file.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).expect("the folder takes files");
        path
    }

    /// Where a file of that name is.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs the command in the folder, without an environment that could change what it does.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        ran(command(self.0.path()).args(arguments))
    }

    /// Replays `requests` by `policy.yaml`; its decisions, which must be there.
    pub(crate) fn replay(&self, requests: &[&str], more: &[&str]) -> Vec<Value> {
        let mut arguments = vec!["replay", "--policy", "policy.yaml", "--decisions", "-"];
        requests.iter().for_each(|name| arguments.extend(["--requests", name]));
        arguments.extend(more);
        let ran = self.run(&arguments);
        assert_eq!(ran.status, 0, "{}", ran.err);
        ran.decisions()
    }

    /// Replays lines written here and now.
    pub(crate) fn replay_lines(&self, lines: &[&str]) -> Vec<Value> {
        self.write("requests.jsonl", lines.join("\n"));
        self.replay(&["requests.jsonl"], &[])
    }
}

impl Ran {
    /// Standard output as decision lines.
    pub(crate) fn decisions(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

/// The command, to be run in `folder`.
pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    command.current_dir(folder).env_remove("TOLLGATE_MODE").env_remove("TOLLGATE_LOG");
    command
}

/// Runs `command` to its end.
pub(crate) fn ran(command: &mut Command) -> Ran {
    let Output { status, stdout, stderr } = command.output().expect("the command is built");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran { status: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) }
}

/// The words of the decisions, one after the other.
pub(crate) fn words(decisions: &[Value]) -> Vec<&str> {
    decisions.iter().map(|line| line["decision"].as_str().expect("a word")).collect()
}
