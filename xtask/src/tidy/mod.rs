//! The house rules, as tests. Each rule says what it found, where, and what would be right.

mod dependencies;
mod functions;
mod sizes;
mod sources;
mod words;

use sources::Source;

/// Files that may break a rule, each with its reason. It is empty and stays so.
const EXCEPTIONS: [&str; 0] = [];

/// Fails with all that a rule found.
#[track_caller]
fn assert_clean(rule: &str, found: &[String]) {
    let found: Vec<&String> =
        found.iter().filter(|line| !EXCEPTIONS.iter().any(|name| line.starts_with(name))).collect();
    assert!(
        found.is_empty(),
        "{rule}\n{}",
        found.iter().map(|line| format!("  {line}\n")).collect::<String>()
    );
}

/// The value below which `share` (0 to 100) per cent of `sorted` lie.
fn percentile(sorted: &[usize], share: usize) -> usize {
    sorted
        .get((sorted.len() * share / 100).min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or(0)
}

/// Every Rust file of the project.
fn all() -> Vec<Source> {
    sources::all().expect("the project's files are readable")
}
