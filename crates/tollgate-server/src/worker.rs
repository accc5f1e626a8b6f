//! A thread that serves: its own runtime, its own listening sockets, its own upstream connections. A request stays on its thread
//! from its first byte to its last.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Poll;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{oneshot, watch};
use tollgate_store::Clock;

use crate::connection::{self, Acceptor, Arrival, Entrance, LAST_CALL, Lot, Stream};
use crate::gateway::Gateway;
use crate::server::BoundSocket;
use crate::sweep;

/// After a failed accept (no file descriptors left, for instance) the next is tried this much later.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How often kept upstream connections are looked through.
const SWEEP_EVERY: Duration = Duration::from_secs(5);

/// One of the gateway's threads.
pub(crate) struct Worker {
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) number: usize,
    pub(crate) stop: watch::Receiver<bool>,
}

/// What one thread listens on.
pub(crate) type Sockets = Vec<(Arc<Entrance>, BoundSocket)>;

/// Starts a thread that serves `sockets`; `ended` is dropped when it has ended.
pub(crate) fn start(
    worker: Worker,
    sockets: Sockets,
    ended: oneshot::Sender<()>,
) -> io::Result<JoinHandle<()>> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
    std::thread::Builder::new().name(format!("gateway-{}", worker.number)).spawn(move || {
        let _ended = ended;
        let number = worker.number;
        if let Err(error) = runtime.block_on(worker.run(sockets)) {
            tracing::error!(thread = number, %error, "a thread of the gateway ended");
        }
        // The system may still be looking up a name.
        runtime.shutdown_background();
    })
}

impl Worker {
    async fn run(self, sockets: Sockets) -> io::Result<()> {
        let acceptors = sockets
            .into_iter()
            .map(|(entrance, socket)| Ok((entrance, Acceptor::new(socket)?)))
            .collect::<io::Result<Vec<_>>>()?;
        let mut arrivals = Queue { acceptors, next: 0 };
        let lot = Lot::new(Arc::clone(&self.gateway), self.number, self.stop.clone());
        let lot = Arc::new(lot);
        tokio::spawn(Arc::clone(&lot).attend());
        self.gateway.runs_on(tokio::runtime::Handle::current());
        if self.number == 0 {
            tokio::spawn(sweep::run(Arc::clone(&self.gateway)));
            tokio::spawn(sweep::look_after_upstreams(Arc::clone(&self.gateway)));
        }
        let mut sweep = tokio::time::interval(SWEEP_EVERY);
        let mut stop = self.stop.clone();
        let stopped = stop.wait_for(|stop| *stop);
        tokio::pin!(stopped);
        loop {
            tokio::select! {
                accepted = arrivals.next() => self.take(&lot, accepted).await,
                _ = sweep.tick() => {
                    self.gateway.live().sweep(self.number);
                    if self.number == 0 {
                        self.gateway.arrivals().sum_up();
                    }
                }
                _ = &mut stopped => break,
            }
        }
        self.take_the_last(&lot, arrivals).await;
        self.drain().await;
        Ok(())
    }

    async fn take(&self, lot: &Arc<Lot>, accepted: io::Result<Accepted>) {
        match accepted {
            Ok(accepted) => self.serve(lot, accepted),
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                self.gateway.arrivals().unaccepted(&error, self.gateway.metrics());
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }

    /// Those who connected before the gateway stopped are served, and those who were about to: a socket that is closed resets
    /// what waits in its queue. Who comes later reaches whoever listens then.
    async fn take_the_last(&self, lot: &Arc<Lot>, mut arrivals: Queue) {
        arrivals.acceptors.retain(|(_, acceptor)| acceptor.hold_off());
        if arrivals.acceptors.is_empty() {
            return;
        }
        let accepting = async {
            loop {
                match arrivals.next().await {
                    Ok(accepted) => self.serve(lot, accepted),
                    Err(error) if is_of_one_connection(&error) => {}
                    Err(_) => return,
                }
            }
        };
        let _ = tokio::time::timeout(LAST_CALL, accepting).await;
    }

    fn serve(&self, lot: &Arc<Lot>, accepted: Accepted) {
        let Accepted { entrance, stream, peer } = accepted;
        let most = self.gateway.max_connections();
        let Some(place) = self.gateway.places().take(most) else {
            let (now, stream) = (self.gateway.timer().now(), (stream, entrance.scheme()));
            return self.gateway.arrivals().turn_away(stream, most, now, self.gateway.metrics());
        };
        stream.set_nodelay();
        let arrival = Arrival { stream, peer, entrance, place };
        if connection::is_introduced(&arrival) {
            let (lot, gateway) = (Arc::clone(lot), Arc::clone(&self.gateway));
            let stop = self.stop.clone();
            tokio::spawn(async move {
                let known = connection::introduce(&gateway, arrival, stop).await;
                if let Some(admitted) = known.and_then(|known| connection::admit(&gateway, known)) {
                    lot.welcome(admitted);
                }
            });
        } else if let Some(admitted) = connection::admit(&self.gateway, arrival) {
            lot.welcome(admitted);
        }
    }

    /// Waits until the last connection of the gateway has ended, at most `drain_timeout`, or until it is told not to.
    async fn drain(&self) {
        let longest = Duration::from_micros(self.gateway.settings().drain_timeout.get());
        let ended = async {
            self.gateway.places().empty().await;
            // A shared store is told of the last requests, too; each telling ends by itself within the store's budget.
            self.gateway.errands().empty().await;
        };
        let why = tokio::select! {
            () = ended => return,
            () = tokio::time::sleep(longest) => "drain_timeout is over",
            () = self.gateway.is_broken_off() => "told to stop again",
        };
        if self.number == 0 {
            let open = self.gateway.places().taken();
            tracing::warn!(connections = open, "{why}: connections are broken off");
        }
    }
}

/// A stream, and the listener that it came by.
struct Accepted {
    entrance: Arc<Entrance>,
    stream: Stream,
    peer: Option<SocketAddr>,
}

/// The queues of all listeners as one; each has its turn first in turn.
struct Queue {
    acceptors: Vec<(Arc<Entrance>, Acceptor)>,
    next: usize,
}

impl Queue {
    async fn next(&mut self) -> io::Result<Accepted> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    fn poll_next(&mut self, cx: &mut std::task::Context<'_>) -> Poll<io::Result<Accepted>> {
        let (before, after) = self.acceptors.split_at(self.next.min(self.acceptors.len()));
        for (entrance, acceptor) in after.iter().chain(before) {
            if let Poll::Ready(accepted) = acceptor.poll_accept(cx) {
                let entrance = Arc::clone(entrance);
                self.next = (self.next + 1) % self.acceptors.len().max(1);
                return Poll::Ready(accepted.map(|(stream, peer)| Accepted {
                    entrance,
                    stream,
                    peer,
                }));
            }
        }
        Poll::Pending
    }
}

/// Whether an error of accept concerns a connection that is gone already.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | ConnectionRefused | Interrupted)
}
