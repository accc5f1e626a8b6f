//! `${NAME}` without quotes, also within `{ .. }` and `[ .. ]`, where YAML would read its braces as its own.
//!
//! Before the text is parsed, the braces of each `${..}` become two letters that mean nothing to YAML; offsets are told
//! back to the text as written, and values get their braces again.

/// The letters, from Unicode's private area.
const OPEN: char = '\u{e000}';
const CLOSE: char = '\u{e001}';

/// By how many bytes each letter is longer than its brace.
const LONGER: usize = OPEN.len_utf8() - 1;

/// A text with the braces of environment names masked.
pub(crate) struct Masked {
    /// What is parsed.
    pub(crate) text: String,
    /// Where, in `text`, each letter begins; ascending.
    letters: Vec<usize>,
}

impl Masked {
    /// Masks `text`; one that has these letters itself stays as it is.
    pub(crate) fn of(text: &str) -> Masked {
        let mut masked = Masked { text: String::with_capacity(text.len()), letters: Vec::new() };
        let mut rest = text;
        if !text.contains([OPEN, CLOSE]) {
            while let Some((before, name, after)) = next_name(rest) {
                masked.text.push_str(before);
                masked.text.push('$');
                masked.letter(OPEN);
                masked.text.push_str(name);
                masked.letter(CLOSE);
                rest = after;
            }
        }
        masked.text.push_str(rest);
        masked
    }

    fn letter(&mut self, letter: char) {
        self.letters.push(self.text.len());
        self.text.push(letter);
    }

    /// The offset in the text as written of an offset in the masked text.
    pub(crate) fn origin(&self, offset: usize) -> usize {
        offset - LONGER * self.letters.partition_point(|letter| *letter < offset)
    }

    /// A value with its braces again.
    pub(crate) fn unmask(&self, value: &str) -> String {
        if self.letters.is_empty() {
            return value.to_owned();
        }
        value.replace(OPEN, "{").replace(CLOSE, "}")
    }
}

/// The first `${name}` of one line: what is before it, the name, and what is after.
fn next_name(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(found) = text[from..].find("${") {
        let start = from + found;
        let inner = &text[start + 2..];
        let end = inner.find(['{', '}', '\n', '"', '\'']);
        match end.filter(|end| inner[*end..].starts_with('}')) {
            Some(end) => return Some((&text[..start], &inner[..end], &inner[end + 1..])),
            None => from = start + 2,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_values_come_back() {
        let text = "a: { b: ${X}, c: \"${Y:-z} ${\" }";
        let masked = Masked::of(text);
        assert_eq!(masked.text.matches(OPEN).count(), 2);
        assert_eq!(masked.unmask(&masked.text), text);
        for (offset, letter) in masked.text.char_indices() {
            let written = &text[masked.origin(offset)..];
            let expected = match letter {
                OPEN => '{',
                CLOSE => '}',
                other => other,
            };
            assert!(
                written.starts_with(expected),
                "{offset}: {letter:?} is not before {written:?}"
            );
        }
        assert_eq!(masked.origin(masked.text.len()), text.len());
    }

    #[test]
    fn a_text_with_the_letters_stays() {
        let text = "a: ${X} \u{e000}";
        assert_eq!(Masked::of(text).text, text);
    }
}
