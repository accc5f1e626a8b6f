//! One entry of `X-Forwarded-For`, and the address forms that it shares with `Forwarded`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The longest text that can be an address with brackets and a port; a longer one is not looked at.
pub(super) const LONGEST: usize = 64;

/// Cuts the last entry off a field line: what is left of its comma, and the entry.
pub(super) fn split_last(line: &[u8]) -> (Option<&[u8]>, &[u8]) {
    match line.iter().rposition(|byte| *byte == b',') {
        Some(comma) => (Some(&line[..comma]), &line[comma + 1..]),
        None => (None, line),
    }
}

/// Without the optional white space of HTTP, blanks and tabs, at both ends.
pub(super) fn trimmed(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

/// The address of an `X-Forwarded-For` entry: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]` or
/// `[2001:db8::1]:80`, with blanks around it or none. IPv4-mapped addresses come out as IPv4.
///
/// Without brackets the last group of an IPv6 address is part of the address, never a port. A zone id is no part of an
/// address on the wire (RFC 3986, 3.2.2), so an entry with one is none.
#[must_use]
pub fn hop(entry: &[u8]) -> Option<IpAddr> {
    let text = short_text(trimmed(entry))?;
    if text.starts_with('[') {
        return bracketed(text, is_port);
    }
    match text.bytes().filter(|byte| *byte == b':').count() {
        0 => v4(text),
        1 => v4_with_port(text, is_port),
        _ => v6(text),
    }
}

/// The text of an entry that is short enough to be an address.
pub(super) fn short_text(entry: &[u8]) -> Option<&str> {
    if entry.len() > LONGEST { None } else { std::str::from_utf8(entry).ok() }
}

/// `[v6]` or `[v6]:port`.
pub(super) fn bracketed(text: &str, port: fn(&str) -> bool) -> Option<IpAddr> {
    let (inside, after) = text.strip_prefix('[')?.split_once(']')?;
    let ported = after.is_empty() || after.strip_prefix(':').is_some_and(port);
    if ported { v6(inside) } else { None }
}

/// `v4:port`.
pub(super) fn v4_with_port(text: &str, port: fn(&str) -> bool) -> Option<IpAddr> {
    let (address, after) = text.split_once(':')?;
    if port(after) { v4(address) } else { None }
}

/// Four decimal numbers. A leading zero is refused: some read it as octal.
pub(super) fn v4(text: &str) -> Option<IpAddr> {
    text.parse::<Ipv4Addr>().ok().map(IpAddr::V4)
}

fn v6(text: &str) -> Option<IpAddr> {
    text.parse::<Ipv6Addr>().ok().map(|address| IpAddr::V6(address).to_canonical())
}

/// One to five digits, as RFC 7239 writes it.
pub(super) fn is_port(text: &str) -> bool {
    (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}
