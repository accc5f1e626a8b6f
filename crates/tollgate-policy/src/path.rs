//! Paths in one spelling, so that a limit cannot be walked around by writing a path differently.

use std::borrow::Cow;
use std::fmt;

/// Why a path has no normal form: the request is answered with 400.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadPath {
    /// `%2F`, `%5C` or `\`: a separator to some readers and a letter to others.
    HiddenSeparator,
    /// `%00`, NUL or another raw control character.
    Control,
    /// A `%` that two hexadecimal digits do not follow.
    Escape,
    /// It does not begin with `/`.
    Relative,
}

impl fmt::Display for BadPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BadPath::HiddenSeparator => "the path hides a separator (%2F, %5C or a backslash)",
            BadPath::Control => "the path holds NUL or another control character",
            BadPath::Escape => "a % in the path is not followed by two hexadecimal digits",
            BadPath::Relative => "the path does not begin with a slash",
        })
    }
}

impl std::error::Error for BadPath {}

/// The normal form of `path`: escapes of unreserved characters decoded, dot segments removed (RFC 3986, 5.2.4), slashes
/// merged, the remaining escapes in upper case, and raw bytes beyond ASCII escaped. In that order, so `/a//../b` is
/// `/a/b`. A trailing slash stays; the empty path is `/`; `*` (of `OPTIONS *`) is itself. Nothing is decoded twice:
/// `%2541` stays as it is. The form is stable: normalising it again changes nothing.
///
/// Borrows where `path` is normal already.
///
/// # Errors
/// [`BadPath`] where the path has no form that all readers agree on.
pub fn normalise(path: &str) -> Result<Cow<'_, str>, BadPath> {
    if is_usual(path.as_bytes()) { Ok(Cow::Borrowed(path)) } else { normalise_any(path) }
}

#[inline(never)]
fn normalise_any(path: &str) -> Result<Cow<'_, str>, BadPath> {
    match path {
        _ if is_normal(path.as_bytes()) => Ok(Cow::Borrowed(path)),
        "" => Ok(Cow::Borrowed("/")),
        "*" => Ok(Cow::Borrowed(path)),
        _ if !path.starts_with('/') => Err(BadPath::Relative),
        _ => Ok(Cow::Owned(merge(&decode(path.as_bytes())?))),
    }
}

/// The characters that never need a second look: unreserved ones but for the dot, sub-delims, `:` and `@`.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0x21;
    while byte < 0x7f {
        plain[byte] = !matches!(
            byte as u8,
            b'/' | b'.'
                | b'%'
                | b'\\'
                | b'"'
                | b'<'
                | b'>'
                | b'^'
                | b'`'
                | b'{'
                | b'|'
                | b'}'
                | b'#'
                | b'?'
                | b'['
                | b']'
        );
        byte += 1;
    }
    plain
};

/// Whether `path` is made of letters, digits, `-`, `_`, and dots and slashes that never stand together. Such a path is
/// normal, and most are such; it is found eight bytes at a time.
fn is_usual(path: &[u8]) -> bool {
    let (words, _) = path.as_chunks::<8>();
    let Some(last) = path.last_chunk::<8>().filter(|_| path[0] == b'/') else { return false };
    let mut before = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        if !is_usual_word(word, before) {
            return false;
        }
        before = separators(word) >> 56;
    }
    // They overlap those before them, which were right.
    is_usual_word(u64::from_le_bytes(*last), 0)
}

/// The same of eight bytes; `before` is the high bit of a byte where a separator stands before them.
#[inline]
fn is_usual_word(word: u64, before: u64) -> bool {
    let separators = separators(word);
    only_usual(word) && separators & (separators << 8 | before) == 0
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// `byte` in each of eight bytes.
const fn each(byte: u8) -> u64 {
    ONES * byte as u64
}

/// The high bits of the bytes of `word`, which are ASCII, that lie from `first` to `last`.
const fn between(word: u64, first: u8, last: u8) -> u64 {
    (word + each(0x80 - first)) & !(word + each(0x7f - last)) & HIGHS
}

/// Whether all eight bytes are letters, digits or among `-./_`.
#[inline]
fn only_usual(word: u64) -> bool {
    let ascii = word & !HIGHS;
    let letters = between(ascii | each(0x20), b'a', b'z');
    word & HIGHS == 0 && letters | between(ascii, b'-', b'9') | between(ascii, b'_', b'_') == HIGHS
}

/// The high bits of the bytes that are a dot or a slash, where all are ASCII.
fn separators(word: u64) -> u64 {
    between(word & !HIGHS, b'.', b'/')
}

/// Whether `path` is its own normal form; may say no to one that is (the slow way then finds it unchanged).
fn is_normal(path: &[u8]) -> bool {
    if path.first() != Some(&b'/') {
        return false;
    }
    let mut place = 1;
    while let Some(run) = path[place..].iter().position(|byte| !PLAIN[usize::from(*byte)]) {
        place += run;
        let before = path[place - 1];
        let fine = match path[place] {
            // A second slash, or one after a dot: perhaps a dot segment.
            b'/' => before != b'/' && before != b'.',
            // A segment that begins with a dot is perhaps a dot segment.
            b'.' => before != b'/',
            b'%' => is_normal_escape(&path[place + 1..]),
            _ => false,
        };
        if !fine {
            return false;
        }
        place += 1;
    }
    true
}

/// Whether two upper-case digits come next, of a byte that stays escaped.
fn is_normal_escape(rest: &[u8]) -> bool {
    let upper = |byte: &u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(byte);
    let stays = |value: u8| !matches!(value, 0 | b'/' | b'\\') && !is_unreserved(value);
    rest.len() >= 2
        && rest[..2].iter().all(upper)
        && escape(rest).is_ok_and(|(value, _)| stays(value))
}

/// RFC 3986, 2.3.
const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

const UPPER: &[u8; 16] = b"0123456789ABCDEF";

/// Decodes what may be decoded and escapes what must be.
fn decode(path: &[u8]) -> Result<String, BadPath> {
    let mut out = String::with_capacity(path.len() + 16);
    let mut rest = path;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'%' => {
                let (value, tail) = escape(rest)?;
                rest = tail;
                push_decoded(&mut out, value)?;
            }
            b'\\' => return Err(BadPath::HiddenSeparator),
            0..=0x1f | 0x7f => return Err(BadPath::Control),
            b'/' | b'.' => out.push(char::from(byte)),
            _ if PLAIN[usize::from(byte)] => out.push(char::from(byte)),
            _ => push_escape(&mut out, byte),
        }
    }
    Ok(out)
}

/// The byte that the two digits at the start of `rest` stand for, and what follows them.
fn escape(rest: &[u8]) -> Result<(u8, &[u8]), BadPath> {
    let digit = |place: usize| rest.get(place).and_then(|&byte| char::from(byte).to_digit(16));
    let (high, low) = digit(0).zip(digit(1)).ok_or(BadPath::Escape)?;
    Ok(((high * 16 + low) as u8, &rest[2..]))
}

fn push_decoded(out: &mut String, value: u8) -> Result<(), BadPath> {
    match value {
        b'/' | b'\\' => return Err(BadPath::HiddenSeparator),
        0 => return Err(BadPath::Control),
        _ if is_unreserved(value) => out.push(char::from(value)),
        _ => push_escape(out, value),
    }
    Ok(())
}

fn push_escape(out: &mut String, value: u8) {
    out.push('%');
    out.push(char::from(UPPER[usize::from(value >> 4)]));
    out.push(char::from(UPPER[usize::from(value & 15)]));
}

/// Removes dot segments, then empty ones. `path` begins with a slash.
fn merge(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut folder = false;
    for segment in path[1..].split('/') {
        folder = matches!(segment, "" | "." | "..");
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            _ => kept.push(segment),
        }
    }
    kept.retain(|segment| !segment.is_empty());
    let mut out = String::with_capacity(path.len() + 1);
    for segment in &kept {
        out.push('/');
        out.push_str(segment);
    }
    if folder || out.is_empty() {
        out.push('/');
    }
    out
}

#[cfg(test)]
mod tests;
