//! How a connection begins: what the client speaks is seen by its first bytes, and TLS is agreed on.

use std::io;

use tokio_rustls::server::TlsStream;
use tollgate_core::Timestamp;
use tollgate_policy::ClientCertificate;

use super::http2::PREFACE;
use super::refusals::{self, Refusal};
use super::transport::Transport;
use super::{Entrance, Stream};
use crate::metrics::{Handshake, Metrics};
use crate::tls::{H2, Tls, names_of};

/// A connection on which HTTP can be spoken.
pub(super) struct Greeted {
    pub(super) transport: Transport,
    pub(super) protocol: Protocol,
    /// The client's certificate, where it showed one.
    pub(super) certificate: Option<ClientCertificate>,
}

/// What the client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Http1,
    Http2,
}

/// Why a connection ends before HTTP is spoken on it.
pub(super) enum Ended {
    /// The client went away, or did not agree.
    Gone,
    /// The client speaks what is not spoken here: it is told so.
    Refused(Stream, fn(Timestamp) -> Refusal),
}

/// What the first bytes of a connection are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    /// Too few to tell.
    Unknown,
    Http1,
    Http2,
    Tls,
}

impl First {
    fn of(bytes: &[u8]) -> First {
        match bytes {
            [] | [0x16] => First::Unknown,
            // A TLS record with a handshake; every version says 3 here (RFC 8446, 5.1).
            [0x16, 3, ..] => First::Tls,
            _ if bytes.starts_with(PREFACE) => First::Http2,
            _ if PREFACE.starts_with(bytes) => First::Unknown,
            _ => First::Http1,
        }
    }

    /// Reads as far as it needs to tell.
    async fn see(stream: &mut Stream) -> io::Result<First> {
        loop {
            match First::of(stream.ahead()) {
                First::Unknown if stream.look().await? == 0 => return Ok(First::Http1),
                First::Unknown => {}
                first => return Ok(first),
            }
        }
    }
}

/// Begins the connection of `stream`, which came by `entrance`.
///
/// # Errors
/// [`Ended`] where no HTTP follows.
pub(super) async fn greet(
    mut stream: Stream,
    entrance: &Entrance,
    metrics: &Metrics,
) -> Result<Greeted, Ended> {
    let first = First::see(&mut stream).await.map_err(|_| Ended::Gone)?;
    let Some(tls) = entrance.tls() else {
        if first == First::Tls {
            return Err(Ended::Refused(stream, refusals::tls_in_the_clear));
        }
        let http2 = first == First::Http2 && entrance.speaks_http2();
        let protocol = if http2 { Protocol::Http2 } else { Protocol::Http1 };
        let transport = Transport::Clear(stream);
        return Ok(Greeted { transport, protocol, certificate: None });
    };
    if first != First::Tls && stream.ahead().first().is_some_and(u8::is_ascii_uppercase) {
        metrics.shook(entrance.name(), Handshake::Plain);
        return Err(Ended::Refused(stream, refusals::clear_at_tls));
    }
    match shake(stream, tls).await {
        Ok(greeted) => {
            metrics.shook(entrance.name(), Handshake::Done);
            Ok(greeted)
        }
        Err(error) => {
            metrics.shook(entrance.name(), Handshake::Failed);
            tracing::debug!(listener = entrance.name(), %error, "a TLS handshake failed");
            Err(Ended::Gone)
        }
    }
}

async fn shake(stream: Stream, tls: &Tls) -> io::Result<Greeted> {
    let stream: TlsStream<Stream> = tls.acceptor().accept(stream).await?;
    let (_, session) = stream.get_ref();
    let http2 = session.alpn_protocol() == Some(H2);
    let protocol = if http2 { Protocol::Http2 } else { Protocol::Http1 };
    let shown = session.peer_certificates().and_then(|chain| chain.first());
    let certificate = shown.and_then(|own| names_of(own));
    let transport = Transport::Tls(Box::new(Stream::new(stream)));
    Ok(Greeted { transport, protocol, certificate })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell() {
        assert_eq!(First::of(b""), First::Unknown);
        assert_eq!(First::of(b"PRI * HTTP/2.0\r\n"), First::Unknown);
        assert_eq!(First::of(PREFACE), First::Http2);
        assert_eq!(First::of(b"PRI * HTTP/2.0\r\nHost"), First::Http1);
        assert_eq!(First::of(b"G"), First::Http1);
        assert_eq!(First::of(b"P"), First::Unknown);
        assert_eq!(First::of(b"PO"), First::Http1);
        assert_eq!(First::of(&[0x16]), First::Unknown);
        assert_eq!(First::of(&[0x16, 3, 1]), First::Tls);
        assert_eq!(First::of(&[0x16, 9]), First::Http1);
    }
}
