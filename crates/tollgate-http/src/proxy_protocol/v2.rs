//! Version 2: sixteen bytes, addresses, and further fields (TLVs) that are passed over.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{Malformed, Origin};

/// What a header begins with: nothing that another protocol sends.
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";

/// Signature, version and command, family and transport, length.
const FIXED: usize = 16;

/// The longest addresses are two paths of Unix sockets.
const LONGEST_ADDRESSES: usize = 216;

/// No more of a header than this is ever looked at.
pub(super) const KEPT: usize = FIXED + LONGEST_ADDRESSES;

/// Whether `bytes` are the beginning of a header, as far as they go.
pub(super) fn may_begin(bytes: &[u8]) -> bool {
    let length = bytes.len().min(SIGNATURE.len());
    bytes[..length] == SIGNATURE[..length]
}

/// What the header says, and how many of its bytes follow those that are here; `None` while its addresses have not come.
pub(super) fn header(bytes: &[u8]) -> Result<Option<(Origin, usize)>, Malformed> {
    let Some(&[command, family, high, low]) = bytes.get(SIGNATURE.len()..FIXED) else {
        return Ok(None);
    };
    let length = usize::from(u16::from_be_bytes([high, low]));
    let addresses = match command {
        // A balancer that asks on its own account may fill in whatever it likes.
        0x20 => 0,
        0x21 => addresses_of(family)?,
        _ => return Err(Malformed::Kind),
    };
    if length < addresses {
        return Err(Malformed::TooShort);
    }
    let Some(given) = bytes.get(FIXED..FIXED + addresses) else { return Ok(None) };
    Ok(Some((origin(given), length - given.len())))
}

/// How many bytes the addresses of a family and its transport take.
fn addresses_of(family: u8) -> Result<usize, Malformed> {
    match family {
        0x00 => Ok(0),
        // Over a stream or over datagrams: it is the client's address either way.
        0x11 | 0x12 => Ok(12),
        0x21 | 0x22 => Ok(36),
        0x31 | 0x32 => Ok(LONGEST_ADDRESSES),
        _ => Err(Malformed::Kind),
    }
}

fn origin(addresses: &[u8]) -> Origin {
    match addresses.len() {
        12 => four(addresses),
        36 => six(addresses),
        _ => None,
    }
    .unwrap_or(Origin::Socket)
}

/// Two IPv4 addresses and their ports.
fn four(addresses: &[u8]) -> Option<Origin> {
    let (source, rest) = addresses.split_first_chunk::<4>()?;
    let (destination, ports) = rest.split_first_chunk::<4>()?;
    client(Ipv4Addr::from(*source), Ipv4Addr::from(*destination), ports)
}

/// Two IPv6 addresses and their ports.
fn six(addresses: &[u8]) -> Option<Origin> {
    let (source, rest) = addresses.split_first_chunk::<16>()?;
    let (destination, ports) = rest.split_first_chunk::<16>()?;
    client(Ipv6Addr::from(*source), Ipv6Addr::from(*destination), ports)
}

fn client(
    source: impl Into<IpAddr>,
    destination: impl Into<IpAddr>,
    ports: &[u8],
) -> Option<Origin> {
    let &[a, b, c, d] = ports else { return None };
    Some(Origin::Client {
        source: SocketAddr::new(source.into(), u16::from_be_bytes([a, b])),
        destination: SocketAddr::new(destination.into(), u16::from_be_bytes([c, d])),
    })
}
