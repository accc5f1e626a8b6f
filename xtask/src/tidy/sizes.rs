//! Files stay small enough to be read at one go.

use super::{all, assert_clean, percentile};

#[test]
fn files_are_small() {
    let sources = all();
    let long: Vec<String> = sources
        .iter()
        .filter(|source| source.code_lines() > 500)
        .map(|source| format!("{}: {} lines; split it by ideas", source.path, source.code_lines()))
        .collect();
    assert_clean("no file has more than 500 lines without its inline tests", &long);

    let mut sizes: Vec<usize> = sources.iter().map(super::Source::code_lines).collect();
    sizes.sort_unstable();
    assert!(
        percentile(&sizes, 50) <= 150,
        "the median file has {} lines, at most 150 are right",
        percentile(&sizes, 50)
    );
    assert!(
        percentile(&sizes, 90) <= 300,
        "nine in ten files have {} lines, at most 300 are right",
        percentile(&sizes, 90)
    );
}

#[test]
fn inline_tests_are_short() {
    let long: Vec<String> = all()
        .iter()
        .filter(|source| source.inline_test_lines() > 200)
        .map(|source| {
            format!(
                "{}: {} lines of tests; move them to a tests.rs",
                source.path,
                source.inline_test_lines()
            )
        })
        .collect();
    assert_clean("a test block of more than 200 lines has its own file", &long);
}
