//! A TCP proxy that does to a connection what networks and dying servers do.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::{oneshot, watch};

use super::until;

mod pump;

/// What the proxy does, to connections that are open and to those that come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// Every byte comes so much later, there and back.
    Delay(Duration),
    /// A black hole: connections are taken, bytes are swallowed, nobody is told. They stay black when it is over.
    Swallow,
    /// Calls arrive and are executed; their answers are swallowed, and so are all later ones on the same connection.
    DropReplies,
    /// Each connection is cut after so many bytes to the server.
    CutAfter(usize),
    /// Connections are reset, and new ones too once they were taken.
    Reset,
    /// Connections are reset, and nobody listens for new ones.
    Refuse,
}

/// A proxy of one test, until it is dropped.
#[derive(Debug)]
pub(crate) struct Proxy {
    address: SocketAddr,
    state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What its tasks share.
#[derive(Debug)]
struct State {
    fault: watch::Sender<Fault>,
    target: Mutex<SocketAddr>,
    seen: Mutex<Seen>,
    listening: watch::Sender<bool>,
}

/// What passed through.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Connections that are open.
    pub(crate) open: usize,
    /// The most that were open at a time.
    pub(crate) most_open: usize,
    /// All that were taken.
    pub(crate) taken: usize,
    /// Commands on their way to the server, by name.
    pub(crate) commands: BTreeMap<String, u64>,
}

impl Seen {
    /// Commands of a name.
    pub(crate) fn count(&self, name: &str) -> u64 {
        self.commands.get(name).copied().unwrap_or_default()
    }
}

impl Proxy {
    /// A proxy to `target` that does nothing yet.
    pub(crate) fn start(target: SocketAddr) -> Proxy {
        let state = Arc::new(State {
            fault: watch::Sender::new(Fault::None),
            target: Mutex::new(target),
            seen: Mutex::default(),
            listening: watch::Sender::new(false),
        });
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("an address");
        listener.set_nonblocking(true).expect("a listener");
        let (stop, stopped) = oneshot::channel::<()>();
        let shared = Arc::clone(&state);
        let thread = std::thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).expect("a listener");
                tokio::select! {
                    () = listen(listener, address, shared) => {}
                    _ = stopped => {}
                }
            });
        });
        let proxy = Proxy { address, state, stop: Some(stop), thread: Some(thread) };
        proxy.wait_listening(true);
        proxy
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// Does `fault` from now on.
    pub(crate) fn set(&self, fault: Fault) {
        self.state.fault.send_replace(fault);
        self.wait_listening(fault != Fault::Refuse);
    }

    /// Leads new connections to another server.
    pub(crate) fn lead_to(&self, target: SocketAddr) {
        *self.state.target.lock().expect("a target") = target;
    }

    pub(crate) fn seen(&self) -> Seen {
        self.state.seen.lock().expect("what was seen").clone()
    }

    fn wait_listening(&self, listening: bool) {
        until("the proxy listens or not", || *self.state.listening.borrow() == listening);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Takes connections, but while they are to be refused.
async fn listen(listener: TcpListener, address: SocketAddr, state: Arc<State>) {
    let mut fault = state.fault.subscribe();
    let mut listener = Some(listener);
    loop {
        let refuses = *fault.borrow_and_update() == Fault::Refuse;
        if refuses {
            listener = None;
        } else if listener.is_none() {
            listener = Some(TcpListener::bind(address).await.expect("its port again"));
        }
        state.listening.send_replace(!refuses);
        let Some(open) = &listener else {
            let _ = fault.changed().await;
            continue;
        };
        tokio::select! {
            _ = fault.changed() => {}
            taken = open.accept() => {
                if let Ok((client, _)) = taken {
                    tokio::spawn(pump::carry(client, Arc::clone(&state)));
                }
            }
        }
    }
}
