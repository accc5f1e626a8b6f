//! The client's address: the socket's peer, or what trusted proxies say of who stood before them.
//!
//! Proxies append to the right, so the header is read from the right, and only as far as it is believed. What stands
//! left of the first entry that no trusted proxy wrote is text that the client chose.

mod forwarded;
mod node;
#[cfg(test)]
mod tests;

use std::net::IpAddr;

use http::header::{self, HeaderName, HeaderValue};
use tollgate_policy::{ClientAddress, ForwardedHeader, Headers, Hops};

pub use forwarded::{hop as forwarded_hop, split_last as forwarded_split_last};
pub use node::hop as x_forwarded_for_hop;

/// `X-Forwarded-For`.
static X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// More entries than this are not walked, so that a long header costs no more than a short one where a whole network is
/// trusted; the last verified hop stands. No honest chain of proxies comes near.
const MOST_HOPS: usize = 256;

/// Who sent a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// The address, IPv4 where it was IPv4-mapped, not yet cut to a prefix. `None` where even the socket has none.
    pub address: Option<IpAddr>,
    /// The socket's peer is one of the policy's `trusted_proxies`: what it writes in headers and cookies counts.
    pub trusted: bool,
}

/// Finds the client's address.
///
/// With `trusted_proxies`: the peer itself unless it is trusted; else the first entry from the right that is not
/// trusted, or the leftmost where all are. With `trusted_hops: n`: the n-th entry from the right, whoever the peer is.
/// Where there are fewer than n, the request did not come by the path that the policy describes, so no entry is
/// known to be a proxy's word, and the peer stands.
///
/// An entry that is no address (`unknown`, an obfuscated name, a zone id, junk, a malformed `Forwarded` element) ends the
/// walk at the hop before it: what is left of it is nobody's verified word. Entries of several field lines count as
/// joined in order; empty ones are no entries (RFC 9110, 5.6.1). Nothing is allocated.
#[must_use]
pub fn resolve(settings: &ClientAddress, peer: Option<IpAddr>, headers: Headers<'_>) -> Client {
    let peer = peer.map(|peer| peer.to_canonical());
    if matches!(&settings.hops, Hops::Trusted(nets) if nets.is_empty()) {
        // Nobody's word counts, so none is looked for.
        return Client { address: peer, trusted: false };
    }
    let trusted = peer.is_some_and(|peer| settings.trusts(peer));
    let entries = || Entries::new(settings.header, headers);
    let address = match settings.hops {
        Hops::Trusted(_) if trusted => first_untrusted(settings, peer, entries()),
        Hops::Trusted(_) => peer,
        Hops::Count(count) => nth_from_right(count, peer, entries()),
    };
    Client { address, trusted }
}

fn first_untrusted(
    settings: &ClientAddress,
    peer: Option<IpAddr>,
    entries: Entries<'_>,
) -> Option<IpAddr> {
    let mut verified = peer;
    for entry in entries.take(MOST_HOPS) {
        let Some(address) = entry else { break };
        verified = Some(address);
        if !settings.trusts(address) {
            break;
        }
    }
    verified
}

fn nth_from_right(count: u32, peer: Option<IpAddr>, mut entries: Entries<'_>) -> Option<IpAddr> {
    let mut verified = peer;
    for _ in 0..count {
        match entries.next() {
            None => return peer,
            Some(None) => break,
            Some(Some(address)) => verified = Some(address),
        }
    }
    verified
}

/// The entries of the named header from the right; `None` for one that is no address.
struct Entries<'a> {
    header: ForwardedHeader,
    lines: Lines<'a>,
    /// What is left to read of the present line.
    line: Option<&'a [u8]>,
}

impl<'a> Entries<'a> {
    fn new(header: ForwardedHeader, headers: Headers<'a>) -> Entries<'a> {
        let name = match header {
            ForwardedHeader::XForwardedFor => &X_FORWARDED_FOR,
            ForwardedHeader::Forwarded => &header::FORWARDED,
        };
        let lines = match headers {
            Headers::Map(map) => Lines::Map(map.get_all(name).into_iter()),
            Headers::Pairs(pairs) => Lines::Pairs(pairs.iter(), name.as_str()),
        };
        Entries { header, lines, line: None }
    }

    fn read(&mut self, line: &'a [u8]) -> Option<IpAddr> {
        match self.header {
            ForwardedHeader::XForwardedFor => {
                let (rest, entry) = node::split_last(line);
                self.line = rest;
                node::hop(entry)
            }
            ForwardedHeader::Forwarded => {
                let (rest, element) = forwarded::split_last(line);
                self.line = rest;
                element.and_then(forwarded::hop)
            }
        }
    }
}

impl Iterator for Entries<'_> {
    type Item = Option<IpAddr>;

    fn next(&mut self) -> Option<Option<IpAddr>> {
        loop {
            match self.line.map(without_empty_tail) {
                None | Some([]) => self.line = Some(self.lines.next()?),
                Some(line) => return Some(self.read(line)),
            }
        }
    }
}

/// Drops white space and empty list members from the right end.
fn without_empty_tail(line: &[u8]) -> &[u8] {
    let filled = line.iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b','));
    &line[..filled.map_or(0, |last| last + 1)]
}

/// The header's field lines, the last first.
enum Lines<'a> {
    Map(header::ValueIter<'a, HeaderValue>),
    Pairs(std::slice::Iter<'a, (&'a str, &'a str)>, &'static str),
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        match self {
            Lines::Map(values) => values.next_back().map(HeaderValue::as_bytes),
            Lines::Pairs(pairs, name) => {
                pairs.rfind(|(pair, _)| pair == name).map(|(_, value)| value.as_bytes())
            }
        }
    }
}
