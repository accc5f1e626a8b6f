//! TLS to the server.

use std::fmt;
use std::io;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::redis::RedisOptionsError;
use crate::tls::{TlsError, TlsOptions};

/// What wraps connections.
#[derive(Clone)]
pub(super) struct Tls(TlsConnector);

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Reads the files.
    pub(super) fn new(options: &TlsOptions) -> Result<Tls, RedisOptionsError> {
        Ok(Tls(TlsConnector::from(Arc::new(options.client_config()?))))
    }

    /// Shakes hands with the server, which must prove that it is `host`.
    pub(super) async fn wrap(
        &self,
        host: &str,
        stream: TcpStream,
    ) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        self.0.connect(name, stream).await
    }
}

impl From<TlsError> for RedisOptionsError {
    fn from(TlsError { file, reason }: TlsError) -> RedisOptionsError {
        match file {
            Some(path) => RedisOptionsError::File { path, reason },
            None => RedisOptionsError::Tls { reason },
        }
    }
}
