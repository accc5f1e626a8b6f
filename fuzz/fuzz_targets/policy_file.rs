//! Any text as a policy file: read, or refused with located errors that can be shown.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tollgate_policy::file::{Report, Surroundings, read};

fuzz_target!(|text: &str| {
    let surroundings =
        Surroundings::new("/nowhere").with_environment(|name| Some(name.to_lowercase()));
    match read("policy.yaml", text, &surroundings) {
        Ok(policy) => {
            assert!(!policy.warnings.has_errors(), "what was read has no errors");
            is_shown(&policy.warnings, text);
        }
        Err(report) => {
            assert!(report.has_errors(), "what is refused says why");
            is_shown(&report, text);
        }
    }
});

/// Every diagnostic stands in the text, and the report can be shown.
fn is_shown(report: &Report, text: &str) {
    let lines = text.split('\n').count();
    for diagnostic in report.diagnostics() {
        assert!((1..=lines).contains(&diagnostic.line), "{diagnostic:?}");
        assert!(diagnostic.column >= 1, "{diagnostic:?}");
        assert!(!diagnostic.message.is_empty(), "{diagnostic:?}");
    }
    assert_eq!(report.is_empty(), report.render().is_empty());
    assert_eq!(report.is_empty(), report.to_string().is_empty());
}
