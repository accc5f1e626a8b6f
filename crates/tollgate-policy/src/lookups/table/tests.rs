//! Tables: rows from every place, indexes, mistakes, and files that change.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::testing::{Request, settings_in};
use crate::{CompileError, Policy};

fn digest(key: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(key).iter().map(|byte| format!("{byte:02x}")).collect()
}

const POLICY: &str = "
tables:
  keys: { file: FILE }
identity:
  user: { api_key: { header: x-api-key, table: keys, column: user } }
  plan: { api_key: { header: x-api-key, table: keys, column: plan }, default: free }
limits:
  per-user:
    key: [user]
    by: plan
    fixed_window:
      free: { limit: 1, window: 1m }
      paid: { limit: 10, window: 1m }
routes:
  - match: { path: /** }
    limits: [per-user]
";

fn compile(folder: &Path, file: &str) -> Result<Policy, CompileError> {
    Policy::compile(settings_in(&POLICY.replace("FILE", file), folder))
}

fn class(policy: &Policy, key: &str) -> Option<String> {
    let request = Request::get("/").header("x-api-key", key);
    let charges = request.charges_at(policy, crate::testing::at(0)).expect("charges");
    charges[0].1.clone()
}

fn folder() -> TempDir {
    TempDir::new().expect("a folder")
}

#[test]
fn rows_from_csv_and_yaml() {
    let folder = folder();
    let (first, second) = (digest("secret-1"), digest("secret-2").to_uppercase());
    let csv =
        format!("\u{feff}# plans\nuser, key_sha256 ,plan\nu1,{first},paid\n\"u,2\",{second},\n");
    fs::write(folder.path().join("keys.csv"), csv).expect("room");
    let yaml = format!(
        "- {{ user: u1, key_sha256: {first}, plan: paid }}\n- {{ user: 7, key_sha256: \"{second}\" }}\n"
    );
    fs::write(folder.path().join("keys.yaml"), yaml).expect("room");
    for file in ["keys.csv", "keys.yaml"] {
        let policy = compile(folder.path(), file).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(class(&policy, "secret-1").as_deref(), Some("paid"), "{file}");
        assert_eq!(class(&policy, "secret-2").as_deref(), Some("free"), "{file}");
        assert_eq!(class(&policy, "secret-3").as_deref(), Some("free"), "{file}");
        let key = |secret| Request::get("/").header("x-api-key", secret).key(&policy);
        assert_ne!(key("secret-1"), key("secret-2"), "{file}");
        // An unknown key is a missing one: the address stands in.
        assert_eq!(key("secret-3"), Request::get("/").key(&policy), "{file}");
        assert_ne!(key("secret-2"), key("secret-3"), "{file}");
    }
}

#[test]
fn mistakes_are_told_without_repeating_what_may_be_a_key() {
    let folder = folder();
    let digest = digest("secret-1");
    let cases = [
        ("key_sha256,user,plan\nsecret-1,u1,free\n", "line 2: key_sha256"),
        (&*format!("key_sha256,user,plan\n{digest},u1,free\n{digest},u2,free\n"), "line 3"),
        ("key_sha256,user,plan\na,b\n", "line"),
    ];
    for (text, said) in cases {
        fs::write(folder.path().join("keys.csv"), text).expect("room");
        let error = compile(folder.path(), "keys.csv").expect_err(text).to_string();
        assert!(error.contains(said) && error.contains("table 0"), "{error}");
        assert!(!error.contains("secret-1"), "{error}");
    }
}

#[test]
fn a_missing_column_names_those_that_are_there() {
    let table = crate::settings::Table {
        name: "plans".into(),
        rows: TableRows::Inline(vec![vec![
            ("user".into(), "u1".into()),
            ("plan".into(), "free".into()),
        ]]),
    };
    let mut used = TableUse::new(&table);
    used.index("user", KeyColumn::Exact);
    used.column("tier");
    let error = used.read().expect_err("no tier");
    assert!(error.contains("no column tier") && error.contains("plan, user"), "{error}");
}

#[test]
fn a_file_that_changes_is_read_again() {
    let folder = folder();
    let path = folder.path().join("keys.csv");
    let write = |plan: &str| {
        let fresh = folder.path().join("fresh");
        fs::write(&fresh, format!("key_sha256,user,plan\n{},u1,{plan}\n", digest("secret-1")))
            .expect("room");
        fs::rename(&fresh, &path).expect("a move");
    };
    write("free");
    let policy = compile(folder.path(), "keys.csv").expect("a policy");
    assert_eq!(policy.refresh(), Ok(false));
    write("paid");
    assert_eq!(policy.refresh(), Ok(true));
    assert_eq!(class(&policy, "secret-1").as_deref(), Some("paid"));

    fs::write(&path, "key_sha256,user,plan\nnonsense,u1,free\n").expect("room");
    let problems = policy.refresh().expect_err("nonsense");
    assert!(problems[0].contains("table keys") && problems[0].contains("line 2"), "{problems:?}");
    assert_eq!(class(&policy, "secret-1").as_deref(), Some("paid"), "the old rows stay");
    assert_eq!(policy.refresh(), Ok(false), "it is said once for each change");

    fs::remove_file(&path).expect("it was there");
    assert!(policy.refresh().is_err());
    assert_eq!(class(&policy, "secret-1").as_deref(), Some("paid"));
    write("free");
    assert_eq!(policy.refresh(), Ok(true));
    assert_eq!(class(&policy, "secret-1").as_deref(), Some("free"));
}

/// A file that is seen half written, or cut to nothing, once forgot every key in silence.
#[test]
fn an_empty_file_is_no_table_without_rows() {
    let folder = folder();
    let path = folder.path().join("keys.csv");
    fs::write(&path, format!("key_sha256,user,plan\n{},u1,paid\n", digest("secret-1")))
        .expect("room");
    let policy = compile(folder.path(), "keys.csv").expect("a policy");
    for cut in ["", "# none yet\n", "key_sha256,us"] {
        fs::write(&path, cut).expect("room");
        let problems = policy.refresh().expect_err(cut);
        assert!(problems[0].contains("its first line must name its columns"), "{problems:?}");
        assert_eq!(class(&policy, "secret-1").as_deref(), Some("paid"), "the old rows stay");
    }
    fs::write(&path, "key_sha256,user,plan\n").expect("room");
    assert_eq!(policy.refresh(), Ok(true));
    assert_eq!(class(&policy, "secret-1").as_deref(), Some("free"), "a table of nobody");

    fs::write(folder.path().join("keys.yaml"), "\n").expect("room");
    assert!(compile(folder.path(), "keys.yaml").is_err());
}
