//! Which certificate a client is shown: the one for the name that it asks for, else the first.

use std::collections::HashMap;
use std::sync::Arc;

use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;

use super::pair::Pair;

/// Certificates by name.
#[derive(Debug)]
pub(super) struct Resolver {
    by_name: HashMap<String, Arc<CertifiedKey>>,
    first: Option<Arc<CertifiedKey>>,
}

impl Resolver {
    /// Where two are for one name, the earlier is shown.
    pub(super) fn new(pairs: &[Arc<Pair>]) -> Resolver {
        let mut by_name = HashMap::new();
        for pair in pairs {
            for name in pair.names() {
                by_name.entry(name.clone()).or_insert_with(|| Arc::clone(pair.certified()));
            }
        }
        Resolver { by_name, first: pairs.first().map(|pair| Arc::clone(pair.certified())) }
    }

    fn find(&self, name: &str) -> Option<&Arc<CertifiedKey>> {
        // RFC 6125, 6.4.3: a star stands for one label, the leftmost.
        let under_star = || self.by_name.get(&format!("*.{}", name.split_once('.')?.1));
        self.by_name.get(name).or_else(under_star)
    }
}

impl ResolvesServerCert for Resolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let named = hello.server_name().map(str::to_ascii_lowercase);
        named.and_then(|name| self.find(&name)).or(self.first.as_ref()).cloned()
    }
}
