//! The bytes of a connection to a server: in the clear or through TLS.

use tokio_rustls::client::TlsStream;

use crate::plain::hand_on;

pub(super) use crate::plain::Plain;

/// A connection.
#[derive(Debug)]
pub(super) enum Stream {
    Plain(Plain),
    Tls(Box<TlsStream<Plain>>),
}

hand_on!(Stream { Plain, Tls });
