//! Names of keys on the server: digests under a secret, so that a dump names nobody, and no caller's byte reaches a name.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tollgate_core::Algorithm;

use super::options::RedisOptions;
use crate::Definition;

/// Changes with the scripts' wire shapes, so that nodes of two releases never read each other's states.
const SCRIPTS: &str = "tg1";

/// The name of a key on the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct KeyName(Box<[u8]>);

impl KeyName {
    /// The key that is called `name` there.
    pub(crate) fn new(name: impl Into<Box<[u8]>>) -> KeyName {
        KeyName(name.into())
    }

    /// The name's bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// What a key of a limit is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A key's state.
    State,
    /// When the limit was first loaded.
    FirstLoad,
    /// The parameters of a tag.
    Parameters,
    /// The nodes that count together.
    Nodes,
}

/// The names of one namespace: `tg<scripts>:<namespace>:<digest>`, without the namespace and its colon where that is empty.
/// The digest is 128 bits of HMAC-SHA256 in 22 characters of base64url.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    prefix: Box<str>,
    mac: Hmac<Sha256>,
}

/// The names of one limit's keys.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    prefix: Box<str>,
    mac: Hmac<Sha256>,
}

impl Names {
    pub(crate) fn new(options: &RedisOptions) -> Names {
        let prefix = match options.namespace.as_str() {
            "" => format!("{SCRIPTS}:"),
            namespace => format!("{SCRIPTS}:{namespace}:"),
        };
        // HMAC takes keys of any length.
        let mac =
            Hmac::new_from_slice(&options.secret.0).unwrap_or_else(|_| Hmac::new(&[0; 64].into()));
        Names { prefix: prefix.into(), mac }
    }

    /// The names of keys that `definition` counts. What makes counts comparable is part of them: its name, class and shape,
    /// and how its windows are cut.
    pub(crate) fn scope(&self, definition: &Definition) -> Scope {
        let mut mac = self.mac.clone();
        let mut add = |bytes: &[u8]| {
            mac.update(&(bytes.len() as u64).to_le_bytes());
            mac.update(bytes);
        };
        add(definition.name.as_bytes());
        add(&[u8::from(definition.class.is_some())]);
        add(definition.class.as_deref().unwrap_or_default().as_bytes());
        add(definition.shape.0.as_bytes());
        add(frame(definition.limit.algorithm()).as_bytes());
        Scope { prefix: self.prefix.clone(), mac }
    }

    /// The name of the key that holds the nodes.
    pub(crate) fn nodes(&self) -> KeyName {
        let scope = Scope { prefix: self.prefix.clone(), mac: self.mac.clone() };
        scope.own(Purpose::Nodes, &[])
    }
}

impl Scope {
    /// The digest of `key`: what the store knows it by.
    pub(crate) fn digest(&self, purpose: Purpose, key: &[u8]) -> u128 {
        let mut mac = self.mac.clone();
        mac.update(&[purpose as u8]);
        mac.update(key);
        let bytes = mac.finalize().into_bytes();
        bytes.iter().take(16).fold(0, |digest, byte| (digest << 8) | u128::from(*byte))
    }

    /// The name of the key with that digest.
    pub(crate) fn name(&self, digest: u128) -> KeyName {
        let mut name = String::with_capacity(self.prefix.len() + 22);
        name.push_str(&self.prefix);
        URL_SAFE_NO_PAD.encode_string(digest.to_be_bytes(), &mut name);
        KeyName::new(name.into_bytes())
    }

    /// The name of a key of the limit itself.
    pub(crate) fn own(&self, purpose: Purpose, key: &[u8]) -> KeyName {
        self.name(self.digest(purpose, key))
    }
}

/// How time is cut: counts under another cut say nothing.
fn frame(algorithm: &Algorithm) -> String {
    match algorithm {
        Algorithm::TokenBucket(_) => "token_bucket".to_owned(),
        Algorithm::LeakyBucket(_) => "leaky_bucket".to_owned(),
        Algorithm::FixedWindow(spec) => format!("fixed_window {}", spec.window.get()),
        Algorithm::SlidingWindow(spec) => {
            format!("sliding_window {} {}", spec.window.get(), spec.cells)
        }
        Algorithm::SlidingLog(spec) => format!("sliding_log {}", spec.window.get()),
        Algorithm::Quota(_) => "quota".to_owned(),
        Algorithm::Concurrency(_) => "concurrency".to_owned(),
    }
}
