//! What the connections of one listener have in common.

use std::sync::Arc;

/// A listener, as its connections see it.
#[derive(Debug)]
pub(crate) struct Entrance {
    name: Arc<str>,
}

/// How a client speaks to the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// In the clear.
    Http,
    /// By TLS.
    #[allow(dead_code, reason = "TLS is wired next")]
    Https,
}

impl Scheme {
    /// As in a URI.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }
}

impl Entrance {
    /// The listener called `name`.
    pub(crate) fn new(name: Arc<str>) -> Entrance {
        Entrance { name }
    }

    /// Its name in the policy.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// How clients speak to it.
    pub(crate) fn scheme(&self) -> Scheme {
        Scheme::Http
    }
}
