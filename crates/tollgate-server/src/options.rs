//! What the command line may say about serving.

use std::net::SocketAddr;
use std::num::NonZeroUsize;

use tollgate_policy::Mode;

/// What goes before the policy's own word, and how many threads serve.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether decisions have effect.
    pub mode: Option<Mode>,
    /// Where the gateway listens. Port 0 is any free one.
    pub listen: Option<SocketAddr>,
    /// Where metrics and health are served.
    pub admin: Option<SocketAddr>,
    /// Listen also where another gateway of the same user does, to take over from it.
    pub take_over: bool,
    /// Threads that serve, each with its own listener and its own upstream connections; one a core unless said otherwise.
    pub workers: Option<NonZeroUsize>,
}

impl Options {
    pub(crate) fn worker_count(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.workers.map_or_else(cores, NonZeroUsize::get)
    }
}
