//! The PROXY protocol, versions 1 and 2: a header before everything else on a connection, in which a balancer says whose
//! connection it passes on. Who is believed is the caller's affair; this only reads.
//!
//! [`Reader`] takes bytes as they come and says how many of them belong to the header, so what follows it stays where it is.

#[cfg(test)]
mod tests;
mod v1;
mod v2;

use std::net::SocketAddr;

/// What a header says of the connection behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nothing: the balancer asks on its own account (`LOCAL`), or does not know who its client is (`UNKNOWN`, a family
    /// without addresses of the Internet). The socket's own addresses stand.
    Socket,
    /// It is passed on for a client.
    Client {
        /// The client's address.
        source: SocketAddr,
        /// The address that the client connected to.
        destination: SocketAddr,
    },
}

/// Why bytes are no header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Malformed {
    /// They begin with neither version's signature: the peer sends no header.
    NoHeader,
    /// A line of version 1 that is longer than 107 bytes.
    TooLong,
    /// A line of version 1 that is not as the protocol has it.
    Line,
    /// A version, command, family or transport of version 2 that the protocol does not have.
    Kind,
    /// A header of version 2 whose length has no room for its addresses.
    TooShort,
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Malformed::NoHeader => "the peer sends no PROXY protocol header",
            Malformed::TooLong => "the PROXY line is longer than 107 bytes",
            Malformed::Line => "the PROXY line is malformed",
            Malformed::Kind => {
                "the PROXY header has a version, command or family that does not exist"
            }
            Malformed::TooShort => "the PROXY header is too short for its addresses",
        })
    }
}

impl std::error::Error for Malformed {}

/// What some bytes brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// So many of them belong to the header.
    pub taken: usize,
    /// What it says, once it is whole; the bytes that were not taken follow it.
    pub origin: Option<Origin>,
}

/// Reads one header, whose bytes may come in any pieces. It keeps at most 232 of them, however long the header is.
///
/// ```
/// use tollgate_http::proxy_protocol::{Origin, Reader};
///
/// let mut reader = Reader::default();
/// let progress = reader.read(b"PROXY TCP4 203.0.113.9 10.0.0.1 54321 443\r\nGET / HTTP/1.1\r\n")?;
/// assert_eq!(progress.taken, 43);
/// assert!(matches!(progress.origin, Some(Origin::Client { source, .. }) if source.port() == 54321));
/// # Ok::<(), tollgate_http::proxy_protocol::Malformed>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reader {
    kept: [u8; v2::KEPT],
    length: usize,
    /// Bytes of version 2 that are still to be passed over.
    left: usize,
    origin: Option<Origin>,
}

impl Default for Reader {
    fn default() -> Reader {
        Reader { kept: [0; v2::KEPT], length: 0, left: 0, origin: None }
    }
}

impl Reader {
    /// Reads on. `bytes` are those that follow what was taken before.
    ///
    /// # Errors
    /// [`Malformed`], as soon as no further bytes could make a header of it.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Progress, Malformed> {
        let mut taken = 0;
        for byte in bytes {
            // The bulk of a header of version 2 is passed over in one go.
            if self.origin.is_some() {
                break;
            }
            self.keep(*byte)?;
            taken += 1;
        }
        let passed = self.left.min(bytes.len() - taken);
        self.left -= passed;
        let origin = self.origin.filter(|_| self.left == 0);
        Ok(Progress { taken: taken + passed, origin })
    }

    /// Whether a byte has come.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.length > 0
    }

    fn keep(&mut self, byte: u8) -> Result<(), Malformed> {
        // Version 2 knows its end before, and a line of version 1 is shorter.
        let place = self.kept.get_mut(self.length).ok_or(Malformed::TooLong)?;
        *place = byte;
        self.length += 1;
        let kept = &self.kept[..self.length];
        if v1::may_begin(kept) {
            self.origin = v1::line(kept)?;
            return Ok(());
        }
        if !v2::may_begin(kept) {
            return Err(Malformed::NoHeader);
        }
        if let Some((origin, left)) = v2::header(kept)? {
            self.origin = Some(origin);
            self.left = left;
        }
        Ok(())
    }
}
