//! TLS at a listener: certificates chosen by the name that a client asks for, read again without a dropped connection.

mod names;
mod pair;
mod resolver;

use std::path::Path;
use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use tollgate_policy::settings::{ClientAuthorities, Listener, ListenerTls};
use tollgate_store::tls::certificates;
use tollgate_store::{Clock, SystemClock};

use pair::Pair;
use resolver::Resolver;

pub(crate) use names::names_of;
pub use tollgate_store::tls::TlsError;

/// What HTTP/2 is called in a handshake.
pub(crate) const H2: &[u8] = b"h2";
const HTTP_1_1: &[u8] = b"http/1.1";

/// A listener's TLS, as it stands.
#[derive(Debug)]
pub(crate) struct Tls {
    http2: bool,
    live: ArcSwap<Live>,
}

/// What was read last and works.
struct Live {
    pairs: Vec<Arc<Pair>>,
    clients: Option<(ClientAuthorities, Vec<CertificateDer<'static>>)>,
    config: Arc<ServerConfig>,
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("pairs", &self.pairs).finish_non_exhaustive()
    }
}

/// What came of reading a listener's files again.
#[derive(Debug)]
pub(crate) struct Refreshed {
    /// Something is other than before.
    pub(crate) changed: bool,
    /// What could not be taken, and why; what was there before stays.
    pub(crate) kept: Vec<TlsError>,
}

impl Tls {
    /// Reads the files of `listener`; `None` where it speaks in the clear.
    ///
    /// # Errors
    /// [`TlsError`] where one of them is of no use. A certificate that has expired is: clients that do not look at the date
    /// are served, and the metrics tell.
    pub(crate) fn load(listener: &Listener) -> Result<Option<Tls>, TlsError> {
        let Some(settings) = &listener.tls else { return Ok(None) };
        let read = |files| Pair::read(files).map(Arc::new);
        let pairs = settings.certificates.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let clients = settings.clients.as_ref().map(read_clients).transpose()?;
        let live = Live::new(pairs, clients, listener.http2)?;
        for pair in live.pairs.iter().filter(|pair| pair.has_expired(now())) {
            tracing::warn!(certificate = %pair.file().display(), "this certificate has expired");
        }
        Ok(Some(Tls { http2: listener.http2, live: ArcSwap::from_pointee(live) }))
    }

    /// Shakes hands with clients as the files of the moment say.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.live.load().config))
    }

    /// When each certificate expires, in seconds since the epoch, by its file.
    pub(crate) fn expiries(&self) -> Vec<(String, u64)> {
        let live = self.live.load();
        live.pairs.iter().map(|pair| (pair.file().display().to_string(), pair.expires())).collect()
    }

    /// Reads the files again that `settings` names. A pair that is broken or has expired does not take the place of one that
    /// works; handshakes that have begun and connections that are open go on.
    pub(crate) fn refresh(&self, settings: &ListenerTls) -> Refreshed {
        let before = self.live.load_full();
        let mut kept = Vec::new();
        match self.read_again(settings, &before, &mut kept) {
            Ok(Some(live)) => {
                self.live.store(Arc::new(live));
                Refreshed { changed: true, kept }
            }
            Ok(None) => Refreshed { changed: false, kept },
            Err(error) => {
                kept.push(error);
                Refreshed { changed: false, kept }
            }
        }
    }

    /// What the files say now; `None` where that is what they said before.
    fn read_again(
        &self,
        settings: &ListenerTls,
        before: &Live,
        kept: &mut Vec<TlsError>,
    ) -> Result<Option<Live>, TlsError> {
        let mut pairs = Vec::with_capacity(settings.certificates.len());
        for files in &settings.certificates {
            let known = before.pairs.iter().find(|pair| pair.is_of(files));
            pairs.push(match (Pair::read(files), known) {
                (Ok(new), Some(known)) if new.is_same(known) => Arc::clone(known),
                (Ok(new), Some(known)) if new.has_expired(now()) && !known.has_expired(now()) => {
                    kept.push(TlsError::file(&files.certificate, "it has expired"));
                    Arc::clone(known)
                }
                (Ok(new), _) => Arc::new(new),
                (Err(error), Some(known)) => {
                    kept.push(error);
                    Arc::clone(known)
                }
                (Err(error), None) => return Err(error),
            });
        }
        let clients = settings.clients.as_ref().map(read_clients).transpose()?;
        let same = clients == before.clients
            && pairs.len() == before.pairs.len()
            && pairs.iter().zip(&before.pairs).all(|(new, old)| Arc::ptr_eq(new, old));
        if same { Ok(None) } else { Live::new(pairs, clients, self.http2).map(Some) }
    }
}

impl Live {
    fn new(
        pairs: Vec<Arc<Pair>>,
        clients: Option<(ClientAuthorities, Vec<CertificateDer<'static>>)>,
        http2: bool,
    ) -> Result<Live, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let file = pairs.first().map_or(Path::new(""), |pair| pair.file());
        let failed = |error| TlsError::file(file, error);
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(failed)?;
        let builder = match &clients {
            None => builder.with_no_client_auth(),
            Some(clients) => builder.with_client_cert_verifier(verifier(clients, &provider)?),
        };
        let mut config = builder.with_cert_resolver(Arc::new(Resolver::new(&pairs)));
        config.alpn_protocols = if http2 { vec![H2, HTTP_1_1] } else { vec![HTTP_1_1] }
            .into_iter()
            .map(<[u8]>::to_vec)
            .collect();
        config.ticketer = ring::Ticketer::new().map_err(failed)?;
        Ok(Live { pairs, clients, config: Arc::new(config) })
    }
}

fn read_clients(
    settings: &ClientAuthorities,
) -> Result<(ClientAuthorities, Vec<CertificateDer<'static>>), TlsError> {
    Ok((settings.clone(), certificates(&settings.authorities)?))
}

fn verifier(
    (settings, authorities): &(ClientAuthorities, Vec<CertificateDer<'static>>),
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let failed = |error: &dyn std::fmt::Display| TlsError::file(&settings.authorities, error);
    let mut roots = RootCertStore::empty();
    for authority in authorities {
        roots.add(authority.clone()).map_err(|error| failed(&error))?;
    }
    let builder =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
    let builder = if settings.required { builder } else { builder.allow_unauthenticated() };
    builder.build().map_err(|error| failed(&error))
}

/// Seconds since the epoch.
fn now() -> u64 {
    SystemClock::new().now().as_micros() / 1_000_000
}

#[cfg(test)]
mod tests;
