//! The gateway as a whole: its listeners, its threads, its end.

mod certificates;
mod listen;

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};
use tollgate_policy::settings::{ListenAt, Listener, Settings};
use tollgate_policy::{Bound, Mode, Policy};
use tollgate_store::{Clock, SystemClock};

use crate::connection::Entrance;
use crate::gateway::{Engine, Gateway, Live};
use crate::metrics::Metrics;
use crate::worker::{self, Sockets, Worker};
use crate::{Options, ServeError};
use listen::{Listening, Manner};

pub(crate) use listen::{BoundSocket, SocketFile, hold_off, listen_on};

/// A gateway that listens, and serves once it [runs](Server::run).
pub struct Server {
    gateway: Arc<Gateway>,
    listening: Vec<Listening>,
    /// One for each listener of the policy.
    entrances: Arc<[Arc<Entrance>]>,
    workers: usize,
}

/// A hold on a gateway that runs.
#[derive(Clone)]
pub struct Handle {
    gateway: Arc<Gateway>,
    entrances: Arc<[Arc<Entrance>]>,
    workers: usize,
    reloading: Arc<Mutex<()>>,
}

impl Server {
    /// Listens for the gateway of `engine`'s policy, whose decisions go by `clock`.
    ///
    /// Connections wait in the listener's queue until [`Server::run`].
    ///
    /// # Errors
    /// [`ServeError::NoListen`], [`ServeError::WhichListener`], [`ServeError::Bind`] and [`ServeError::Tls`].
    pub fn bind(
        engine: Arc<Engine>,
        clock: Arc<dyn Clock>,
        metrics: Arc<Metrics>,
        options: &Options,
    ) -> Result<Server, ServeError> {
        let bound = Arc::clone(&engine.policy());
        let workers = options.worker_count().max(1);
        let asked = asked(options, bound.settings())?;
        let entrance = |one: &Listener| Entrance::new(one).map(Arc::new);
        let entrances = asked.iter().map(entrance).collect::<Result<Arc<[_]>, _>>();
        let entrances = entrances.map_err(ServeError::Tls)?;
        let manner = Manner { threads: workers, take_over: options.take_over };
        let listening = listen::listen(&asked, manner)?;
        let timer = Arc::new(SystemClock::new());
        let live = Live::new(bound, workers, &timer, &metrics, clock.now(), None);
        let gateway = Arc::new(Gateway::new(engine, live, clock, timer, metrics));
        certificates::told(&entrances, gateway.metrics());
        Ok(Server { gateway, listening, entrances, workers })
    }

    /// Where it listens, with the ports that were found where 0 was asked for.
    #[must_use]
    pub fn listeners(&self) -> Vec<Listener> {
        self.listening.iter().map(|one| one.listener.clone()).collect()
    }

    /// The first address that it listens on; `None` where it listens on Unix sockets only.
    #[must_use]
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.listeners().iter().find_map(Listener::address)
    }

    /// A hold on it while it runs.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle {
            gateway: Arc::clone(&self.gateway),
            entrances: Arc::clone(&self.entrances),
            workers: self.workers,
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
        let gateway = Arc::clone(&self.gateway);
        let mut ends = Vec::with_capacity(self.workers);
        let (sockets, files) = self.by_thread();
        for (number, sockets) in sockets.into_iter().enumerate() {
            let (ended, end) = oneshot::channel::<()>();
            let gateway = Arc::clone(&gateway);
            let worker = Worker { gateway, number, stop: stopped.clone() };
            let thread = worker::start(worker, sockets, ended).map_err(ServeError::System)?;
            ends.push((end, thread));
        }
        shutdown.await;
        let open = gateway.places().taken();
        tracing::info!(connections = open, "stopping: no more connections are taken");
        drop(files);
        // Nobody listens any more where all threads have ended.
        let _ = stop.send(true);
        for (end, thread) in ends {
            // A thread that panicked drops its end, too.
            let _ = end.await;
            if thread.join().is_err() {
                tracing::error!("a thread of the gateway panicked");
            }
        }
        if let Some(log) = gateway.live().access_log() {
            log.close();
        }
        Ok(())
    }

    /// What each thread listens on, and the files that are removed when none does.
    fn by_thread(self) -> (Vec<Sockets>, Vec<SocketFile>) {
        let mut threads: Vec<Sockets> = (0..self.workers).map(|_| Vec::new()).collect();
        let mut files = Vec::new();
        for listening in self.listening {
            let of_this = |entrance: &&Arc<Entrance>| *entrance.name() == *listening.listener.name;
            let Some(entrance) = self.entrances.iter().find(of_this) else { continue };
            for (thread, socket) in threads.iter_mut().zip(listening.sockets) {
                thread.push((Arc::clone(entrance), socket));
            }
            files.extend(listening.file);
        }
        (threads, files)
    }
}

/// Where to listen: what the command line says takes the place of the policy's one listener.
fn asked(options: &Options, settings: &Settings) -> Result<Vec<Listener>, ServeError> {
    let mut listeners = settings.listeners.clone();
    let Some(address) = options.listen else {
        return if listeners.is_empty() { Err(ServeError::NoListen) } else { Ok(listeners) };
    };
    let at = ListenAt::Tcp(address);
    match listeners.as_mut_slice() {
        [] => Ok(vec![Listener::new(Listener::DEFAULT, at)]),
        [one] => {
            one.at = at;
            Ok(listeners)
        }
        several => Err(ServeError::WhichListener(several.len())),
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
        if let Some(log) = live.access_log() {
            // Whoever asks for a reload may have renamed the file.
            log.reopen();
        }
        self.gateway.go_live(live);
        self.refresh_certificates();
        version
    }

    /// Reads the certificate files of the policy in force again. What is broken or has expired is not taken: that is logged and
    /// counted, and what was there before stays. Connections that are open go on.
    pub fn refresh_certificates(&self) {
        let policy = self.policy();
        certificates::refresh(&self.entrances, policy.settings(), self.gateway.metrics());
    }

    /// Ends a gateway that stops without waiting for `drain_timeout`: connections that are left are broken off.
    pub fn break_off(&self) {
        self.gateway.break_off();
    }

    /// Which upstreams have no server that does well; `None` where each has one.
    #[must_use]
    pub fn upstreams_note(&self) -> Option<String> {
        self.gateway.live().upstreams_note()
    }

    /// Ends when each thread of the gateway has done something since it was asked: one that stands still does not.
    pub async fn answers(&self) {
        self.gateway.answers().await;
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
