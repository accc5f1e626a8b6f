//! `tollgate test`: a policy's own tests.

use std::path::{Path, PathBuf};

use tollgate_policy::file::{self, Read, TestCase};
use tollgate_sim::policy_test;

use super::load;
use crate::outcome::{Failure, note, print};

/// Runs the tests, prints where they differ, and at the end how many passed.
pub(crate) fn run(path: &Path) -> Result<(), Failure> {
    let read = load::read(path)?;
    let beside = beside(path);
    let mut passed = 0;
    let mut failed = 0;
    let own = read.tests.iter().map(|case| (path, case));
    let others = tests_beside(&beside, &read)?;
    for (file, case) in own.chain(others.iter().map(|case| (beside.as_path(), case))) {
        let report = report(path, &read, file, case)?;
        match &report {
            None => passed += 1,
            Some(_) => failed += 1,
        }
        print(&report.unwrap_or_else(|| format!("ok    {}\n", case.name)))?;
    }
    if passed + failed == 0 {
        let (path, beside) = (path.display(), beside.display());
        note(&format!("{path}: no tests; write a `tests:` section, or the file {beside}\n"));
    }
    print(&format!("{passed} passed, {failed} failed\n"))?;
    if failed == 0 { Ok(()) } else { Err(Failure::Said) }
}

/// What differs in one test; `None` where nothing does.
fn report(
    path: &Path,
    read: &Read,
    file: &Path,
    case: &TestCase,
) -> Result<Option<String>, Failure> {
    let policy = load::compile(path, read)?;
    let differences = policy_test::run(policy, case).map_err(Failure::wrong)?;
    if differences.is_empty() {
        return Ok(None);
    }
    let mut text = format!("FAIL  {}\n", case.name);
    for difference in differences {
        let place = difference.place;
        text += &format!("{}:{}:{}: {difference}", file.display(), place.line, place.column);
    }
    Ok(Some(text))
}

/// `shop.tests.yaml`, beside `shop.yaml`.
fn beside(path: &Path) -> PathBuf {
    path.with_extension("tests.yaml")
}

/// The tests of the file beside the policy; none where there is no such file.
fn tests_beside(path: &Path, read: &Read) -> Result<Vec<TestCase>, Failure> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let (name, text) = (path.display().to_string(), load::text(path)?);
    let tests = file::read_tests(&name, &text, &read.settings, &load::surroundings(path));
    tests.map_err(|report| load::say(path, &report))
}
