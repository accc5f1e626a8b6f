//! What would be right where a text is no YAML.

use serde_saphyr::granit_parser::ErrorKind;

/// Help with the mistakes that people make most.
pub(crate) fn help(kind: &ErrorKind, text: &str, at: usize) -> Option<String> {
    let here = text.get(at..).unwrap_or("");
    let help = match kind {
        ErrorKind::UnknownAnchor => {
            "quote a text that begins with `*`, such as `\"*.example.com\"`"
        }
        ErrorKind::TabNotAllowed | ErrorKind::TabInBlockIndentation => "indent with blanks",
        _ if line_before(text, at).contains('\t') || here.starts_with('\t') => "indent with blanks",
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

/// The white space that begins the line of `at` and the one after it.
fn line_before(text: &str, at: usize) -> &str {
    let next =
        text.get(at..).and_then(|here| here.find('\n')).map_or(text.len(), |end| at + end + 1);
    let start = line_start(text, at);
    let indent = |from: usize| {
        let line = text.get(from..).unwrap_or("");
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    };
    if indent(start).contains('\t') { indent(start) } else { indent(next) }
}

/// Where the line of `at` begins.
fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
}
