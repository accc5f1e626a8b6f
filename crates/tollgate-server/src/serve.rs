//! `tollgate serve`: gateway, admin listener, and the policy that they follow.

use std::future::Future;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tollgate_policy::Policy;
use tollgate_policy::settings::{ListenAt, Listener, Settings};
use tollgate_store::{Clock, SystemClock};

use crate::admin::{self, Stage};
use crate::policy_file::PolicyFile;
use crate::reload::Follower;
use crate::server::listen_on;
use crate::snapshot::Keeper;
use crate::systemd::Supervisor;
use crate::{Engine, GatewayStore, Handle, Options, ServeError, Server, descriptors, shared};

/// A signal that comes this soon after the first is the same one, told twice.
const SAME_SIGNAL: Duration = Duration::from_secs(1);

/// Where a gateway can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// The gateway's listeners, with the ports that were found where 0 was asked for.
    pub listeners: Vec<Listener>,
    /// Metrics and health; `None` where the policy switches them off.
    pub admin: Option<SocketAddr>,
}

impl Started {
    /// The first address of the gateway; `None` where it listens on Unix sockets only.
    #[must_use]
    pub fn gateway(&self) -> Option<SocketAddr> {
        self.listeners.iter().find_map(Listener::address)
    }
}

/// Serves the policy file at `path` until SIGTERM or SIGINT, and reads it again on SIGHUP and when it changes. Requests that
/// have begun may finish within `drain_timeout`; a second signal breaks them off.
///
/// # Errors
/// [`ServeError`] where the policy is wrong or its addresses cannot be listened on. A policy that turns wrong later does not
/// end anything.
pub fn serve(path: &Path, options: &Options) -> Result<(), ServeError> {
    serve_with_signals(path, options, |_| {})
}

/// [`serve`]; `started` is called once, when connections are taken.
///
/// # Errors
/// As [`serve`].
pub fn serve_with_signals(
    path: &Path,
    options: &Options,
    started: impl FnOnce(Started),
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ServeError::System)?;
    runtime.block_on(async {
        let stop = stop_signal().map_err(ServeError::System)?;
        serve_until(path, options, stop, started).await
    })
}

/// [`serve`], until `stop` ends; `started` is called once, when connections are taken.
///
/// # Errors
/// As [`serve`].
pub async fn serve_until(
    path: &Path,
    options: &Options,
    stop: impl Future<Output = ()>,
    started: impl FnOnce(Started),
) -> Result<(), ServeError> {
    let supervisor = Arc::new(Supervisor::of_process());
    let file = PolicyFile::new(path);
    let text = file.text()?;
    let clock = Arc::new(SystemClock::new());
    let policy = file.compile(&text, clock.now())?;
    let mode = options.mode.unwrap_or(policy.settings().mode);
    let settings = policy.settings().clone();
    descriptors::provide(&settings);
    let (store, keeper) = open_store(&policy, &clock, options.take_over).await?;
    let engine = Arc::new(Engine::new(policy, store, mode, clock.now()));
    let metrics = shared::metrics(&engine, keeper.as_ref());
    let timed = Arc::<SystemClock>::clone(&clock);
    let server = Server::bind(Arc::clone(&engine), timed, Arc::clone(&metrics), options)?;
    let readiness = Arc::new(shared::readiness(&engine, server.handle()));
    let admin = Admin::bind(&settings, options)?;
    let addresses =
        Started { listeners: server.listeners(), admin: admin.as_ref().map(|admin| admin.address) };
    admin.map(|admin| tokio::spawn(admin::serve(admin.listener, metrics, Arc::clone(&readiness))));

    let keeping = keeper.map(|keeper| keeper.start(Arc::clone(&engine), clock));
    let keeping = keeping.transpose().map_err(ServeError::System)?;
    let handle = server.handle();
    let follower = Follower {
        file,
        server: handle.clone(),
        mode: options.mode,
        text,
        supervisor: Arc::clone(&supervisor),
    };
    let following = follow(follower).map_err(ServeError::System)?;
    tracing::info!(gateway = %places(&addresses.listeners), admin = addresses.admin.map(tracing::field::display), ?mode, "serving {}", path.display());
    readiness.enter(Stage::Ready);
    supervisor.ready("serving");
    let beating = tokio::spawn(beat(Arc::clone(&supervisor), handle.clone()));
    started(addresses);
    let mut stopping = None;
    let ended = server
        .run(async {
            stop.await;
            readiness.enter(Stage::Draining);
            supervisor.stopping();
            stopping = Some(tokio::spawn(break_off_if_told_again(handle)));
        })
        .await;
    following.abort();
    beating.abort();
    if let Some(stopping) = stopping {
        stopping.abort();
    }
    shared::close(&engine).await;
    if let Some(keeping) = keeping {
        keeping.end().await;
    }
    tracing::info!("stopped");
    ended
}

/// Where the gateway listens, for the log.
fn places(listeners: &[Listener]) -> String {
    let place = |one: &Listener| match (&*one.name, listeners.len()) {
        (_, 1) => one.at.to_string(),
        (name, _) => format!("{name}={}", one.at),
    };
    listeners.iter().map(place).collect::<Vec<_>>().join(" ")
}

/// Gives a service manager that wants them signs of life, as long as every thread of the gateway answers.
async fn beat(supervisor: Arc<Supervisor>, server: Handle) {
    let Some(pulse) = supervisor.pulse() else { return };
    loop {
        if tokio::time::timeout(pulse, server.answers()).await.is_ok() {
            supervisor.alive();
        }
        tokio::time::sleep(pulse).await;
    }
}

/// The store of `policy`, and who keeps its counts over a restart, if anybody is asked to.
async fn open_store(
    policy: &Policy,
    clock: &Arc<SystemClock>,
    take_over: bool,
) -> Result<(GatewayStore, Option<Keeper>), ServeError> {
    let settings = &policy.settings().store;
    if let Some(snapshot) = settings.snapshot() {
        let opened = Keeper::open(snapshot, policy.definitions(), clock.now(), take_over);
        let (keeper, store) = opened.map_err(ServeError::Snapshot)?;
        return Ok((store.into(), Some(keeper)));
    }
    let opened = GatewayStore::open(settings, Arc::<SystemClock>::clone(clock) as _).await;
    Ok((opened.map_err(ServeError::Store)?, None))
}

/// A listener for metrics and health.
struct Admin {
    listener: TcpListener,
    address: SocketAddr,
}

impl Admin {
    fn bind(settings: &Settings, options: &Options) -> Result<Option<Admin>, ServeError> {
        let Some(asked) = options.admin.or(settings.admin) else { return Ok(None) };
        let refused = |error| ServeError::Bind { at: ListenAt::Tcp(asked), error };
        let listener = listen_on(asked, options.take_over).map_err(refused)?;
        let listener = TcpListener::from_std(listener).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Some(Admin { listener, address }))
    }
}

/// Sets `follower` going, and hands it every SIGHUP.
fn follow(follower: Follower) -> std::io::Result<tokio::task::JoinHandle<()>> {
    let mut hangups = signal(SignalKind::hangup())?;
    Ok(tokio::spawn(async move {
        let (ask, asked) = mpsc::channel(1);
        let asking = async {
            while hangups.recv().await.is_some() {
                // A full channel has been asked already.
                let _ = ask.try_send(());
            }
        };
        tokio::join!(follower.run(asked), asking);
    }))
}

/// Whoever says it twice does not want to wait. Some tell a process and its group, so what follows at once is no second time.
async fn break_off_if_told_again(server: Handle) {
    tokio::time::sleep(SAME_SIGNAL).await;
    match stop_signal() {
        Ok(again) => again.await,
        Err(error) => return tracing::warn!(%error, "a second signal will not be heard"),
    }
    server.break_off();
}

/// Ends at the first SIGTERM or SIGINT.
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
