//! TLS to servers, which must prove that they are who the policy means.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::ServerName;
use tollgate_policy::settings::{UpstreamAddress, UpstreamTls};
use tollgate_store::tls::{Identity, TlsError, TlsOptions, Trust};

use super::stream::Plain;

/// What the server may choose to speak.
const HTTP1: &[u8] = b"http/1.1";
const HTTP2: &[u8] = b"h2";

/// What wraps the connections of a pool.
#[derive(Clone)]
pub(super) struct Tls(TlsConnector);

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Reads the files that `settings` names.
    pub(super) fn new(settings: &UpstreamTls, http2: bool) -> Result<Tls, TlsError> {
        let trust = match &settings.authorities {
            _ if settings.insecure => Trust::Anyone,
            Some(file) => Trust::Authorities(file.clone()),
            None => Trust::System,
        };
        let identity = settings.identity.as_ref();
        let identity = identity.map(|(certificate, key)| Identity {
            certificate: certificate.clone(),
            key: key.clone(),
        });
        let mut config = TlsOptions { trust, identity }.client_config()?;
        config.alpn_protocols = match http2 {
            true => vec![HTTP2.to_vec(), HTTP1.to_vec()],
            false => vec![HTTP1.to_vec()],
        };
        Ok(Tls(TlsConnector::from(Arc::new(config))))
    }

    /// Shakes hands with a server, which must prove that it is `name`.
    pub(super) async fn wrap(
        &self,
        name: &ServerName<'static>,
        stream: Plain,
    ) -> io::Result<TlsStream<Plain>> {
        self.0.connect(name.clone(), stream).await
    }
}

/// Whether the server chose HTTP/2.
pub(super) fn chose_http2(stream: &TlsStream<Plain>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(HTTP2)
}

/// The name that the certificate of the server at `address` must be for.
pub(super) fn name(settings: &UpstreamTls, address: &UpstreamAddress) -> ServerName<'static> {
    let said = settings.server_name.as_ref().and_then(|name| match name.parse::<IpAddr>() {
        Ok(address) => Some(address.into()),
        Err(_) => ServerName::try_from(name.clone()).ok(),
    });
    said.unwrap_or_else(|| match address {
        UpstreamAddress::Socket(address) => address.ip().into(),
        UpstreamAddress::Name { host, .. } => {
            ServerName::try_from(host.clone()).unwrap_or_else(|_| nobody())
        }
        UpstreamAddress::Unix(_) => nobody(),
    })
}

/// Where there is no name there is none to prove: no certificate is for the unspecified address.
fn nobody() -> ServerName<'static> {
    IpAddr::from([0, 0, 0, 0]).into()
}
