//! Text that others wrote, made fit for a line: whatever it holds, the line stays one line and its fields stay apart.

use std::io::Write as _;

/// No value is longer on a line than this many bytes of it.
pub(super) const LONGEST: usize = 8 * 1024;

/// Appends `text` as the inside of a JSON string.
pub(super) fn json(text: &[u8], line: &mut Vec<u8>) {
    each(text, line, |piece, line| {
        let _ = match piece {
            Piece::Char('"') => line.write_all(b"\\\""),
            Piece::Char('\\') => line.write_all(b"\\\\"),
            Piece::Char('\n') => line.write_all(b"\\n"),
            Piece::Char('\r') => line.write_all(b"\\r"),
            Piece::Char('\t') => line.write_all(b"\\t"),
            // All of them are below U+10000.
            Piece::Char(odd) => write!(line, "\\u{:04x}", u32::from(odd)),
            Piece::Byte(_) => line.write_all("\u{fffd}".as_bytes()),
        };
    });
}

/// Appends `text` for a template: a quote, a backslash, and what is no plain text, as `\xHH` for each of its bytes.
pub(super) fn template(text: &[u8], line: &mut Vec<u8>) {
    each(text, line, |piece, line| match piece {
        Piece::Char(odd) => {
            let mut bytes = [0; 4];
            for byte in odd.encode_utf8(&mut bytes).bytes() {
                let _ = write!(line, "\\x{byte:02x}");
            }
        }
        Piece::Byte(byte) => {
            let _ = write!(line, "\\x{byte:02x}");
        }
    });
}

/// What cannot stand in a line as it is.
enum Piece {
    Char(char),
    Byte(u8),
}

/// Appends what of `text` can stand as it is, and has `odd` write the rest.
fn each(text: &[u8], line: &mut Vec<u8>, odd: impl Fn(Piece, &mut Vec<u8>)) {
    let text = &text[..text.len().min(LONGEST)];
    for chunk in text.utf8_chunks() {
        let valid = chunk.valid();
        let mut plain = 0;
        for (at, letter) in valid.char_indices().filter(|(_, letter)| is_odd(*letter)) {
            line.extend_from_slice(&valid.as_bytes()[plain..at]);
            odd(Piece::Char(letter), line);
            plain = at + letter.len_utf8();
        }
        line.extend_from_slice(&valid.as_bytes()[plain..]);
        for byte in chunk.invalid() {
            odd(Piece::Byte(*byte), line);
        }
    }
}

/// Quotes and backslashes, control characters of both sets, and the separators that some readers end lines at.
fn is_odd(letter: char) -> bool {
    matches!(letter, '"' | '\\' | '\u{2028}' | '\u{2029}') || letter.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(text: &[u8]) -> (String, String) {
        let (mut as_json, mut in_template) = (Vec::new(), Vec::new());
        json(text, &mut as_json);
        template(text, &mut in_template);
        let text = |line| String::from_utf8(line).expect("text");
        (text(as_json), text(in_template))
    }

    #[test]
    fn plain_text_stays_as_it_is() {
        let plain = "/v1/x?a=b&c=d é";
        assert_eq!(both(plain.as_bytes()), (plain.to_owned(), plain.to_owned()));
    }

    #[test]
    fn nothing_breaks_a_line_or_a_value() {
        let (as_json, in_template) = both(b"a\"b\\c\nd\re\tf\0g\x7fh\xffi");
        assert_eq!(as_json, "a\\\"b\\\\c\\nd\\re\\tf\\u0000g\\u007fh\u{fffd}i");
        assert_eq!(in_template, "a\\x22b\\x5cc\\x0ad\\x0de\\x09f\\x00g\\x7fh\\xffi");
        let (as_json, in_template) = both("\u{85}\u{2028}".as_bytes());
        assert_eq!(as_json, "\\u0085\\u2028");
        assert_eq!(in_template, "\\xc2\\x85\\xe2\\x80\\xa8");
    }

    #[test]
    fn long_values_are_cut() {
        let (as_json, _) = both(&vec![b'x'; 3 * LONGEST]);
        assert_eq!(as_json.len(), LONGEST);
    }
}
