//! What must be present in every file, and what must be absent.

use super::{all, assert_clean};

#[test]
fn every_file_opens_with_what_it_is() {
    let silent: Vec<String> = all()
        .iter()
        .filter(|source| !source.text.starts_with("//!"))
        .map(|source| {
            format!("{}: begin with a `//!` line that says what the file is for", source.path)
        })
        .collect();
    assert_clean("every file opens with `//!`", &silent);
}

#[test]
fn names_say_something() {
    let vague: Vec<String> = all()
        .iter()
        .filter(|source| {
            let stem = source
                .path
                .trim_end_matches(".rs")
                .trim_end_matches("/mod")
                .rsplit('/')
                .next()
                .unwrap_or_default();
            ["utils", "util", "common", "helpers", "helper", "imp", "misc"].contains(&stem)
        })
        .map(|source| format!("{}: name it after its idea", source.path))
        .collect();
    assert_clean("no file is called utils, common, helpers, imp or misc", &vague);
}

#[test]
fn only_clock_rs_reads_the_clock() {
    let readers = [
        "Instant::now",
        "SystemTime::now",
        "Timestamp::now",
        "Zoned::now",
        "quanta::",
        "clock_gettime",
    ];
    let found = lines_with(&readers, |path| !path.ends_with("tollgate-store/src/clock.rs"));
    assert_clean("only tollgate-store/src/clock.rs reads the clock", &found);
}

#[test]
fn core_is_pure() {
    let impure = ["std::", "async ", ".await", "f32", "f64", "println!", "core::time"];
    let found = lines_with(&impure, |path| {
        path.starts_with("crates/tollgate-core/src") && !path.ends_with("tests.rs")
    });
    assert_clean("core has no std, no async, no floats, no printing", &found);
}

#[test]
fn only_prefetch_rs_is_unsafe() {
    let found = lines_with(&["unsafe ", "unsafe_code"], |path| {
        !path.ends_with("tollgate-store/src/memory/table/prefetch.rs")
    });
    assert_clean("only tollgate-store/src/memory/table/prefetch.rs is unsafe", &found);
}

#[test]
fn nothing_is_left_open() {
    let open = [
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("FIX", "ME"),
        concat!("#[ign", "ore"),
    ];
    assert_clean("nothing is left open in the code", &lines_with(&open, |_| true));
}

/// Lines outside comments and inline tests that hold one of `words`, in product files for which `of` holds.
fn lines_with(words: &[&str], of: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for source in all().iter().filter(|source| !source.is_test() && of(&source.path)) {
        for (number, line) in source.text.lines().take(source.code_lines()).enumerate() {
            let code = line.trim_start();
            if !code.starts_with("//") && words.iter().any(|word| code.contains(word)) {
                found.push(format!("{}:{}: {code}", source.path, number + 1));
            }
        }
    }
    found
}
