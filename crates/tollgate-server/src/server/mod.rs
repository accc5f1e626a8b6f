//! The gateway as a whole: its listeners, its threads, its end.

mod listen;

use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};
use tollgate_policy::{Bound, Mode, Policy};
use tollgate_store::{Clock, SystemClock};

use crate::gateway::{Engine, Gateway, Live};
use crate::metrics::Metrics;
use crate::worker::{self, Worker};
use crate::{Options, ServeError};

/// A gateway that listens, and serves once it [runs](Server::run).
pub struct Server {
    gateway: Arc<Gateway>,
    listeners: Vec<TcpListener>,
    address: SocketAddr,
}

/// A hold on a gateway that runs.
#[derive(Clone)]
pub struct Handle {
    gateway: Arc<Gateway>,
    workers: usize,
    reloading: Arc<Mutex<()>>,
}

impl Server {
    /// Listens for the gateway of `engine`'s policy, whose decisions go by `clock`.
    ///
    /// Connections wait in the listener's queue until [`Server::run`].
    ///
    /// # Errors
    /// [`ServeError::NoListen`] and [`ServeError::Bind`].
    pub fn bind(
        engine: Arc<Engine>,
        clock: Arc<dyn Clock>,
        metrics: Arc<Metrics>,
        options: &Options,
    ) -> Result<Server, ServeError> {
        let bound = Arc::clone(&engine.policy());
        let asked = options.listen.or(bound.settings().listen).ok_or(ServeError::NoListen)?;
        let workers = options.worker_count();
        let listeners = listen::listen(asked, workers)?;
        let address = listeners
            .first()
            .ok_or(ServeError::NoListen)?
            .local_addr()
            .map_err(|error| ServeError::Bind { address: asked, error })?;
        let timer = Arc::new(SystemClock::new());
        let live = Live::new(bound, workers, &timer, &metrics, clock.now(), None);
        let gateway = Arc::new(Gateway::new(engine, live, clock, timer, metrics));
        Ok(Server { gateway, listeners, address })
    }

    /// Where it listens: the port that was found where 0 was asked for.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// A hold on it while it runs.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle {
            gateway: Arc::clone(&self.gateway),
            workers: self.listeners.len(),
            reloading: Arc::default(),
        }
    }

    /// Serves until `shutdown` ends; then takes no more connections, lets requests finish for at most `drain_timeout`, and
    /// comes back when all threads have ended.
    ///
    /// # Errors
    /// [`ServeError::System`] where a thread cannot be started.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), ServeError> {
        let (stop, stopped) = watch::channel(false);
        let mut ends = Vec::with_capacity(self.listeners.len());
        for (number, listener) in self.listeners.into_iter().enumerate() {
            let (ended, end) = oneshot::channel::<()>();
            let gateway = Arc::clone(&self.gateway);
            let worker = Worker { gateway, number, stop: stopped.clone() };
            let thread = worker::start(worker, listener, ended).map_err(ServeError::System)?;
            ends.push((end, thread));
        }
        shutdown.await;
        let open = self.gateway.places().taken();
        tracing::info!(connections = open, "stopping: no more connections are taken");
        // Nobody listens any more where all threads have ended.
        let _ = stop.send(true);
        for (end, thread) in ends {
            // A thread that panicked drops its end, too.
            let _ = end.await;
            if thread.join().is_err() {
                tracing::error!("a thread of the gateway panicked");
            }
        }
        Ok(())
    }
}

impl Handle {
    /// Serves requests that come from now on under `policy`, in `mode`; answers with the policy's version. What was counted is
    /// kept, and so are connections to servers that stay. The addresses of the listeners stay as they are until a restart.
    pub fn reload(&self, policy: Policy, mode: Mode) -> u64 {
        let _one_at_a_time = self.reloading.lock();
        let now = self.gateway.now();
        let engine = self.gateway.engine();
        let version = engine.reload(policy, now);
        engine.set_mode(mode);
        let bound = Arc::clone(&engine.policy());
        let (metrics, timer) = (self.gateway.metrics(), self.gateway.timer());
        let before = self.gateway.live();
        let live = Live::new(bound, self.workers, timer, metrics, now, Some(&before));
        self.gateway.go_live(live);
        version
    }

    /// Ends a gateway that stops without waiting for `drain_timeout`: connections that are left are broken off.
    pub fn break_off(&self) {
        self.gateway.break_off();
    }

    /// Records that a policy was wrong, and the one before it stays.
    pub(crate) fn reload_failed(&self) {
        self.gateway.metrics().reload_failed();
    }

    /// The policy that requests are decided by.
    #[must_use]
    pub fn policy(&self) -> Arc<Bound> {
        Arc::clone(&self.gateway.engine().policy())
    }

    /// Connections from clients that are open.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.gateway.places().taken()
    }
}
