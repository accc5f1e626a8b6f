//! One spelling for names that people take for the same.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// `text` in Unicode NFKC and lower case. Lower case may leave NFKC, so it is normalised once more. Bytes that are not
/// UTF-8 keep their values; only their ASCII letters are lowered.
pub(crate) fn fold(text: &[u8]) -> Cow<'_, [u8]> {
    match std::str::from_utf8(text) {
        Ok(text) if text.is_ascii() => lower(text.as_bytes()),
        Ok(text) => {
            let lower = text.nfkc().collect::<String>().to_lowercase();
            Cow::Owned(lower.nfkc().collect::<String>().into_bytes())
        }
        Err(_) => lower(text),
    }
}

fn lower(text: &[u8]) -> Cow<'_, [u8]> {
    if text.iter().any(u8::is_ascii_uppercase) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn spellings_of_one_name() {
        let cases = [
            ("Alice", "alice"),
            ("ＡＬＩＣＥ", "alice"),
            ("ﬁona", "fiona"),
            ("ÉCOLE", "école"),
            ("E\u{301}COLE", "école"),
            ("ΟΔΟΣ", "οδος"),
            ("Ⅳ", "iv"),
            ("K\u{212a}", "kk"),
        ];
        for (text, folded) in cases {
            assert_eq!(fold(text.as_bytes()), folded.as_bytes(), "{text}");
        }
        assert_eq!(*fold(b"A\xff"), *b"a\xff");
    }
}
