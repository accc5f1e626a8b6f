//! The `Forwarded` header field, by the grammar of RFC 7239, section 4.
//!
//! It is read from the right, quotes included: what a client wrote further left, an open quote for instance, cannot
//! change how the elements that proxies appended are understood.

use std::net::IpAddr;

use super::node::{self, LONGEST};

/// Pairs of one element that are looked at; an element with more is malformed here.
const MOST_PAIRS: usize = 16;

/// Cuts the last element off a field line: what is left of its comma, and the element without surrounding white space.
/// Commas within quotes do not cut. `None` in place of the element: its quotes do not match, and nothing is left.
#[must_use]
pub fn split_last(line: &[u8]) -> (Option<&[u8]>, Option<&[u8]>) {
    let mut quoted = false;
    for (at, byte) in line.iter().enumerate().rev() {
        match byte {
            b'"' if !is_escaped(&line[..at]) => quoted = !quoted,
            // Outside quotes nothing is escaped: a string that ends so was never closed.
            b'"' if !quoted => return (None, None),
            b',' if !quoted => return (Some(&line[..at]), Some(node::trimmed(&line[at + 1..]))),
            _ => {}
        }
    }
    (None, (!quoted).then(|| node::trimmed(line)))
}

/// Whether an odd number of backslashes ends `before`.
fn is_escaped(before: &[u8]) -> bool {
    before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// The address of an element's `for`: `None` where the element is malformed, has no `for`, or tells no address
/// (`unknown`, or an obfuscated identifier). IPv4-mapped addresses come out as IPv4.
#[must_use]
pub fn hop(element: &[u8]) -> Option<IpAddr> {
    let mut names: [&[u8]; MOST_PAIRS] = [&[]; MOST_PAIRS];
    let mut pairs = 0;
    let mut node = None;
    let mut rest = element;
    loop {
        if !rest.starts_with(b";") && !rest.is_empty() {
            let (name, value, after) = pair(rest)?;
            let seen = names.get(..pairs)?.iter().any(|earlier| earlier.eq_ignore_ascii_case(name));
            if seen {
                return None;
            }
            *names.get_mut(pairs)? = name;
            pairs += 1;
            if name.eq_ignore_ascii_case(b"for") {
                node = Some(value);
            }
            rest = after;
        }
        match rest {
            [] => break,
            [b';', after @ ..] => rest = after,
            _ => return None,
        }
    }
    address(node?)
}

/// A pair's value as it stands on the wire.
enum Value<'a> {
    Token(&'a [u8]),
    /// Without its quotes, with its escapes.
    Quoted(&'a [u8]),
}

/// `token "=" (token | quoted-string)`, and what follows.
fn pair(text: &[u8]) -> Option<(&[u8], Value<'_>, &[u8])> {
    let (name, after) = token(text)?;
    let after = after.strip_prefix(b"=")?;
    if let Some(inside) = after.strip_prefix(b"\"") {
        let end = closing_quote(inside)?;
        return Some((name, Value::Quoted(&inside[..end]), &inside[end + 1..]));
    }
    let (value, rest) = token(after)?;
    Some((name, Value::Token(value), rest))
}

/// A token of at least one character, and what follows.
fn token(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|byte| !is_token(*byte)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Where the quoted string ends whose opening quote was just read.
fn closing_quote(inside: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match *inside.get(at)? {
            b'"' => return Some(at),
            b'\\' if is_text(*inside.get(at + 1)?) => at += 2,
            b'\\' => return None,
            byte if is_text(byte) => at += 1,
            _ => return None,
        }
    }
}

/// What may stand in a quoted string, plainly or behind a backslash.
fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

fn address(value: Value<'_>) -> Option<IpAddr> {
    let raw = match value {
        Value::Token(token) => return node_address(token),
        Value::Quoted(raw) => raw,
    };
    let mut plain = [0; LONGEST];
    let mut length = 0;
    let mut bytes = raw.iter();
    while let Some(byte) = bytes.next() {
        let byte = if *byte == b'\\' { bytes.next()? } else { byte };
        *plain.get_mut(length)? = *byte;
        length += 1;
    }
    node_address(&plain[..length])
}

/// `nodename [":" node-port]` where the name is an address.
fn node_address(node: &[u8]) -> Option<IpAddr> {
    let text = node::short_text(node)?;
    if text.starts_with('[') {
        return node::bracketed(text, is_node_port);
    }
    if text.contains(':') { node::v4_with_port(text, is_node_port) } else { node::v4(text) }
}

/// One to five digits, or `_` and an obfuscated port.
fn is_node_port(text: &str) -> bool {
    let obfuscated = text.strip_prefix('_').is_some_and(|name| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    });
    obfuscated || node::is_port(text)
}
