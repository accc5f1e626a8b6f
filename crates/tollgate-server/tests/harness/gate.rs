//! A gateway of one test.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tollgate_policy::file::{self, Surroundings};
use tollgate_policy::settings::Listener;
use tollgate_policy::{Mode, Policy};
use tollgate_server::metrics::Metrics;
use tollgate_server::{Engine, GatewayStore, Handle, Options, Server};
use tollgate_store::{Clock, SystemClock};

/// A gateway that runs until it is dropped.
pub(crate) struct Gate {
    /// Its first address; none where it listens on Unix sockets only.
    pub(crate) address: SocketAddr,
    pub(crate) listeners: Vec<Listener>,
    pub(crate) handle: Handle,
    pub(crate) metrics: Arc<Metrics>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// How a gateway is started.
pub(crate) struct Setup {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) workers: usize,
    pub(crate) mode: Mode,
    /// On a free port, in place of what the policy says.
    pub(crate) free_port: bool,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            clock: Arc::new(SystemClock::new()),
            workers: 2,
            mode: Mode::Enforce,
            free_port: true,
        }
    }
}

/// The policy that `yaml` says.
pub(crate) fn policy(yaml: &str) -> Policy {
    let read = file::read("test.yaml", yaml, &Surroundings::new(Path::new(".")))
        .unwrap_or_else(|report| panic!("{}", report.render()));
    Policy::compile(read.settings).unwrap_or_else(|error| panic!("{error:?}"))
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn metrics(engine: &Arc<Engine>) -> Arc<Metrics> {
    let counted = Arc::clone(engine);
    let usage = move || counted.store().usage();
    match engine.store() {
        GatewayStore::Memory(_) => Metrics::new(usage),
        GatewayStore::Shared(store) => Metrics::of_node(usage, store.clone()),
    }
}

impl Gate {
    /// A gateway for the policy that `yaml` says, on a free port.
    pub(crate) fn start(yaml: &str) -> Gate {
        Gate::with(yaml, Setup::default())
    }

    /// A gateway that listens where the policy that `yaml` says does.
    pub(crate) fn of(yaml: &str) -> Gate {
        Gate::with(yaml, Setup { free_port: false, ..Setup::default() })
    }

    /// Where its listener called `name` listens.
    #[track_caller]
    pub(crate) fn listener(&self, name: &str) -> SocketAddr {
        let found = self.listeners.iter().find(|one| *one.name == *name);
        found.and_then(Listener::address).expect("a listener with an address")
    }

    pub(crate) fn with(yaml: &str, setup: Setup) -> Gate {
        let Setup { clock, workers, mode, free_port } = setup;
        let policy = policy(yaml);
        let store = GatewayStore::open(&policy.settings().store, Arc::clone(&clock));
        let store = runtime().block_on(store).expect("a store that can be opened");
        let engine = Arc::new(Engine::new(policy, store, mode, clock.now()));
        let metrics = metrics(&engine);
        let options = Options {
            listen: free_port.then_some(SocketAddr::from(([127, 0, 0, 1], 0))),
            workers: NonZeroUsize::new(workers),
            ..Options::default()
        };
        let server =
            Server::bind(engine, clock, Arc::clone(&metrics), &options).expect("a free port");
        let (listeners, handle) = (server.listeners(), server.handle());
        let address = server.local_addr().unwrap_or(SocketAddr::from(([0, 0, 0, 0], 0)));
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let served = runtime().block_on(server.run(async {
                let _ = stopped.await;
            }));
            served.expect("it served");
        });
        Gate { address, listeners, handle, metrics, stop: Some(stop), thread: Some(thread) }
    }

    /// Tells it to stop, without waiting until it has.
    pub(crate) fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }

    /// Waits until it has ended.
    pub(crate) fn ended(&mut self) {
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the gateway ends without a panic");
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Loads another policy.
    pub(crate) fn reload(&self, yaml: &str) {
        self.handle.reload(policy(yaml), Mode::Enforce);
    }

    /// The value of a series of the metrics page.
    pub(crate) fn metric(&self, series: &str) -> f64 {
        let page = self.metrics.render().expect("a page");
        let line =
            page.lines().find(|line| line.split_once(' ').is_some_and(|(name, _)| name == series));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0.0)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
            && !std::thread::panicking()
        {
            panic!("the gateway ends without a panic");
        }
    }
}
