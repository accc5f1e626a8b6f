//! Path globs: what is wrong with one, and what would be right.

use super::diagnostic::Span;
use super::sink::Sink;

/// Says what is wrong with a path glob. Matching is on normalised paths, so a glob that no normalised path has is wrong.
pub(crate) fn check_glob(glob: &str, at: Span, sink: &mut Sink<'_>) {
    if let Some((message, help)) = fault(glob) {
        sink.error(at, format!("`{glob}` {message}"), help);
    }
}

fn fault(glob: &str) -> Option<(&'static str, String)> {
    if !glob.starts_with('/') {
        return Some(("is no path", format!("begin with a slash: `/{glob}`")));
    }
    if glob.contains(['?', '#']) {
        return Some(("matches no path", "leave the query out; routes match the path".to_owned()));
    }
    if glob.contains(['{', '}', '<', '>', '[', ']']) || glob.contains("/:") {
        let help = "write `*` for one segment and `**` for any number of them";
        return Some(("is no glob", help.to_owned()));
    }
    let segments = || glob[1..].split('/');
    if segments().any(|segment| segment.contains("**") && segment != "**") {
        let help = "`**` stands alone between slashes; `*` is anything within a segment";
        return Some(("is no glob", help.to_owned()));
    }
    if glob.contains("//") || segments().any(|segment| segment == "." || segment == "..") {
        let help = "write the path without `//`, `.` and `..`: paths are normalised before";
        return Some(("matches no path", help.to_owned()));
    }
    if glob.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
        return Some(("matches no path", "write `%20` for a blank".to_owned()));
    }
    encoding_fault(glob)
}

/// Percent signs must begin an encoding that survives normalisation.
fn encoding_fault(glob: &str) -> Option<(&'static str, String)> {
    for (at, _) in glob.match_indices('%') {
        let digits = glob.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let Some(byte) = digits else {
            return Some(("is no path", "write `%25` for a percent sign".to_owned()));
        };
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            let help = format!("write `{}` itself: paths are normalised before", byte as char);
            return Some(("matches no path", help));
        }
        if [b'/', b'\\', 0].contains(&byte) {
            let help = "requests with `%2F`, `%5C` or `%00` in their path are answered 400";
            return Some(("matches no path", help.to_owned()));
        }
    }
    None
}
