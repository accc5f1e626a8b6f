//! Version 1: one line of text.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{Malformed, Origin};

/// What a line begins with.
const BEGIN: &[u8] = b"PROXY ";

/// The longest line, with its end.
const LONGEST: usize = 107;

/// Whether `bytes` are the beginning of a line, as far as they go.
pub(super) fn may_begin(bytes: &[u8]) -> bool {
    let length = bytes.len().min(BEGIN.len());
    bytes[..length] == BEGIN[..length]
}

/// What the line says; `None` while its end has not come.
pub(super) fn line(bytes: &[u8]) -> Result<Option<Origin>, Malformed> {
    if bytes.len() > LONGEST {
        return Err(Malformed::TooLong);
    }
    match bytes {
        [.., b'\r', b'\n'] => {}
        // A line feed ends a line, so it may not stand alone; nor may anything else follow a carriage return.
        [.., b'\n'] | [.., b'\r', _] => return Err(Malformed::Line),
        _ => return Ok(None),
    }
    let text = bytes.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(b"\r\n"));
    let text = text.ok_or(Malformed::Line)?;
    // What the sender adds to an unknown client is of no meaning.
    if text == b"UNKNOWN" || text.starts_with(b"UNKNOWN ") {
        return Ok(Some(Origin::Socket));
    }
    let text = std::str::from_utf8(text).map_err(|_| Malformed::Line)?;
    proxied(text).map(Some).ok_or(Malformed::Line)
}

fn proxied(text: &str) -> Option<Origin> {
    let mut words = text.split(' ');
    let family = words.next()?;
    let (from, to) = (address(family, words.next()?)?, address(family, words.next()?)?);
    let (from_port, to_port) = (port(words.next()?)?, port(words.next()?)?);
    if words.next().is_some() {
        return None;
    }
    let (source, destination) = (SocketAddr::new(from, from_port), SocketAddr::new(to, to_port));
    Some(Origin::Client { source, destination })
}

fn address(family: &str, text: &str) -> Option<IpAddr> {
    match family {
        // Neither takes leading zeros, signs or blanks.
        "TCP4" => text.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
        "TCP6" => text.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        _ => None,
    }
}

fn port(text: &str) -> Option<u16> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let short = text == "0" || !text.starts_with('0');
    text.parse().ok().filter(|_| plain && short)
}
