//! Tokens that were verified before: checking a public-key signature takes far longer than all the rest of a decision.

use std::sync::Arc;

use arc_swap::ArcSwapOption;

use super::Claims;

/// How many are remembered.
const PLACES: usize = 1024;

/// The claims of recent tokens by the token's SHA-256. Each token has one place and pushes out who was there, so it never
/// grows and never waits. Only tokens whose signature is right are remembered; whether they hold now is asked each time.
#[derive(Debug)]
pub(super) struct Verified {
    places: Box<[Place]>,
}

/// Room for one token: its digest and its claims.
type Place = ArcSwapOption<([u8; 32], Arc<Claims>)>;

impl Default for Verified {
    fn default() -> Verified {
        Verified { places: (0..PLACES).map(|_| ArcSwapOption::empty()).collect() }
    }
}

impl Verified {
    /// The claims of the token with this digest, where it is remembered.
    pub(super) fn get(&self, digest: &[u8; 32]) -> Option<Arc<Claims>> {
        let held = self.place(digest).load();
        held.as_ref().filter(|held| held.0 == *digest).map(|held| Arc::clone(&held.1))
    }

    /// Remembers them.
    pub(super) fn put(&self, digest: [u8; 32], claims: &Arc<Claims>) {
        self.place(&digest).store(Some(Arc::new((digest, Arc::clone(claims)))));
    }

    fn place(&self, digest: &[u8; 32]) -> &Place {
        let low = usize::from(u16::from_le_bytes([digest[0], digest[1]]));
        &self.places[low % PLACES]
    }
}
