//! What would be right where a text is no YAML.

use serde_saphyr::granit_parser::ErrorKind;

/// Help with the mistakes that people make most.
pub(crate) fn help(kind: &ErrorKind, text: &str, at: usize) -> Option<String> {
    let here = text.get(at..).unwrap_or("");
    let help = match kind {
        ErrorKind::UnknownAnchor => {
            "quote a text that begins with `*`, such as `\"*.example.com\"`"
        }
        _ if is_about_tabs(kind, text, at) => return Some(tabs(text, at)),
        ErrorKind::UnexpectedCharacter { .. } => "quote a text that begins with such a sign",
        ErrorKind::ExpectedFlowMappingSeparator
            if here.starts_with(':')
                && text.get(line_start(text, at)..at).is_some_and(|line| line.contains('{')) =>
        {
            "quote a text that has `: ` in it"
        }
        ErrorKind::ExpectedFlowMappingSeparator | ErrorKind::UnexpectedEofFlowMapping => {
            "close the `{` before with a `}`, and put commas between its fields"
        }
        ErrorKind::ExpectedFlowSequenceSeparator | ErrorKind::UnexpectedEofFlowSequence => {
            "close the `[` before with a `]`, and put commas between its items"
        }
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::InvalidIndentation => {
            "indent it as the fields beside it are"
        }
        ErrorKind::SimpleKeyExpected
        | ErrorKind::MappingValueNotAllowed
        | ErrorKind::InvalidColonPlacement
        | ErrorKind::InvalidMappingValueWhitespace => {
            "write `name: value` with a blank after the colon, close each bracket, and quote a text \
             that has `: ` in it"
        }
        _ => return None,
    };
    Some(help.to_owned())
}

/// Whether a tab is what is wrong at `at`, or begins the line of it or the one after.
fn is_about_tabs(kind: &ErrorKind, text: &str, at: usize) -> bool {
    let lines = text.get(line_start(text, at)..).unwrap_or("").lines();
    matches!(kind, ErrorKind::TabNotAllowed | ErrorKind::TabInBlockIndentation)
        || text.get(at..).is_some_and(|here| here.starts_with('\t'))
        || lines.take(2).any(is_indented_by_tabs)
}

/// What to do about tabs, and in which line: the parser may have stopped before it.
fn tabs(text: &str, at: usize) -> String {
    let start = line_start(text, at);
    let before = text.get(..start).unwrap_or("").lines().count();
    let place = text.get(start..).unwrap_or("").lines().position(is_indented_by_tabs);
    place.map_or("use blanks instead of tabs".to_owned(), |place| {
        format!("indent line {} with blanks instead of tabs", before + place + 1)
    })
}

fn is_indented_by_tabs(line: &str) -> bool {
    line.trim_start_matches(' ').starts_with('\t')
}

/// Where the line of `at` begins.
fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
}
