//! How the client's address is found: settings only. The reading of headers is `tollgate_http`'s.

use std::net::IpAddr;

use ipnet::IpNet;

/// `client_address:` of the policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientAddress {
    /// Which entries of the header are believed.
    pub hops: Hops,
    /// The one header that is read; others have no influence.
    pub header: ForwardedHeader,
    /// IPv6 addresses count by this prefix, 32 to 128; 64 unless said otherwise.
    pub ipv6_prefix: u8,
    /// Whether `64:ff9b::/96` stands for the IPv4 address in its low 32 bits.
    pub nat64: bool,
    /// What an upstream is told of the client.
    pub forwarding: Forwarding,
}

/// What an upstream is told of the client. Fields that it is not told in are passed on from trusted proxies as they are, and
/// removed from anybody else's requests, unless `chain` is `Replace`: then they are always removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forwarding {
    /// In `X-Forwarded-For`, `-Proto` and `-Host`.
    pub x_forwarded: bool,
    /// In `Forwarded` (RFC 7239).
    pub forwarded: bool,
    /// In `Via` (RFC 9110, 7.6.3) it is told of the gateway itself.
    pub via: bool,
    /// What becomes of the word of trusted proxies. Anybody else's is replaced.
    pub chain: Chain,
}

/// What becomes of the word of trusted proxies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chain {
    /// It is carried on, and the socket's peer added to it.
    Append,
    /// The client's address, as it was found, stands in its place.
    Replace,
}

impl Default for Forwarding {
    fn default() -> Forwarding {
        Forwarding { x_forwarded: true, forwarded: false, via: true, chain: Chain::Append }
    }
}

/// Which hops are believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hops {
    /// The first address from the right that is in none of these; none trusted: always the socket's peer.
    Trusted(Vec<IpNet>),
    /// The n-th from the right of the header, whoever the peer is.
    Count(u32),
}

/// Which header tells of hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardedHeader {
    /// `X-Forwarded-For`.
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

impl Default for ClientAddress {
    fn default() -> ClientAddress {
        ClientAddress {
            hops: Hops::Trusted(Vec::new()),
            header: ForwardedHeader::XForwardedFor,
            ipv6_prefix: 64,
            nat64: false,
            forwarding: Forwarding::default(),
        }
    }
}

impl ClientAddress {
    /// Whether what `peer` writes in headers is believed.
    #[must_use]
    pub fn trusts(&self, peer: IpAddr) -> bool {
        let peer = peer.to_canonical();
        matches!(&self.hops, Hops::Trusted(nets) if nets.iter().any(|net| net.contains(&peer)))
    }
}
