//! No input makes the reader panic, and none makes it grow without bound.

use proptest::prelude::*;
use tollgate_policy::file::{self, MAX_FILE_BYTES, Surroundings};

use super::{errors, read};

const POLICY: &str = include_str!("../../../../examples/llm-platform.yaml");

/// A policy with a part of it replaced.
fn mangled() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "\\PC{0,12}",
        prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ": ",
            "- ",
            "\n",
            "\t",
            "&a ",
            "*a",
            "<<: ",
            "!!str ",
            "| ",
            "\"",
            "'",
            "${",
            "}",
            "null",
            "-1",
            "1e9",
            "\u{feff}",
            "? ",
            "---\n",
            "%YAML 1.2\n",
            "unlimited",
            "99999999999999999999",
        ])
        .prop_map(str::to_owned),
    ];
    (0..POLICY.len(), 0usize..30, part).prop_map(|(start, length, part)| {
        let from = POLICY.floor_char_boundary(start);
        let to = POLICY.ceil_char_boundary((start + length).min(POLICY.len()));
        format!("{}{part}{}", &POLICY[..from], &POLICY[to..])
    })
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        let _ = read(&text);
    }

    #[test]
    fn mangled_policies_are_read_or_refused_with_places_that_are_there(text in mangled()) {
        let report = match read(&text) {
            Ok(read) => read.warnings,
            Err(report) => {
                prop_assert!(report.has_errors());
                *report
            }
        };
        let lines = text.lines().count().max(1);
        for diagnostic in report.diagnostics() {
            prop_assert!((1..=lines + 1).contains(&diagnostic.line), "{diagnostic:?}");
            prop_assert!(diagnostic.column >= 1);
        }
        let _ = report.render();
    }
}

#[test]
fn aliases_cannot_multiply_without_end() {
    let mut text = String::from("x0: &x0 [a, a, a, a, a, a, a, a, a, a]\n");
    for level in 1..12 {
        let of = level - 1;
        let list = vec![format!("*x{of}"); 10].join(", ");
        text.push_str(&format!("x{level}: &x{level} [{list}]\n"));
    }
    let found = errors(&text);
    assert!(found.iter().any(|line| line.contains("more than 500000 values")), "{found:#?}");
}

#[test]
fn aliases_of_a_long_text_count_by_its_length() {
    let long = "a".repeat(1 << 20);
    let list = vec!["*x"; 1000].join(", ");
    let found = errors(&format!("x: &x {long}\ny: [{list}]\n"));
    assert!(found.iter().any(|line| line.contains("more than 500000 values")), "{}", found.len());
}

#[test]
fn an_anchor_cannot_hold_itself() {
    assert!(!errors("x: &x [*x]\n").is_empty());
}

#[test]
fn nesting_is_bounded() {
    for deep in ["[".repeat(10_000), "{a: ".repeat(10_000), "- ".repeat(10_000)] {
        assert_eq!(errors(&deep).len(), 1);
    }
}

#[test]
fn size_is_bounded() {
    let text = format!("routes: []\n#{}\n", "x".repeat(MAX_FILE_BYTES));
    assert!(errors(&text)[0].contains("at most"));
}

#[test]
fn environment_names_bring_in_only_so_much() {
    let world = Surroundings::new(".").with_environment(|_| Some("x".repeat(1 << 19)));
    let text = "upstreams: { a: { servers: [\"${A}\", \"${A}\", \"${A}\"] } }\nroutes: []\n";
    let report = file::read("p", text, &world).unwrap_err();
    assert!(report.to_string().contains("bring in more than"));
}

#[test]
fn a_flood_of_errors_is_cut() {
    let fields: Vec<String> = (0..5000).map(|n| format!("unknown{n}: 1\n")).collect();
    let report = read(&fields.concat()).unwrap_err();
    assert_eq!(report.diagnostics().len(), 201);
    assert!(report.to_string().contains("too much is wrong"));
}

#[test]
fn many_names_are_read_in_time_and_too_many_refused() {
    let limit = "{ key: [ip], sliding_window: { limit: 1, window: 1s } }";
    let limits: Vec<String> = (0..10_001).map(|n| format!("  l{n}: {limit}\n")).collect();
    let found = errors(&format!("limits:\n{}routes: []\n", limits.concat()));
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("at most 10000"), "{found:#?}");
}
