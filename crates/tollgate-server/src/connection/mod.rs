//! One client's connection: hyper's HTTP/1.1 on a socket that is watched for slowness. TLS goes between the socket and
//! hyper; HTTP/2 beside [`serve`].

mod crowd;
mod entrance;
mod farewell;
mod introduction;
mod linger;
mod pace;
mod places;
mod refusals;
mod socket;
mod stream;

use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::watch;
use tollgate_policy::settings::GatewaySettings;

use crate::gateway::Gateway;

pub(crate) use crowd::{Crowd, Member};
pub(crate) use entrance::{Entrance, Scheme};
pub(crate) use farewell::LAST_CALL;
pub(crate) use introduction::introduce;
pub(crate) use linger::see_off;
pub(crate) use pace::{Pace, Turn};
pub(crate) use places::{Place, Places};
pub(crate) use refusals::{Refusal, crowded, no_place};
pub(crate) use socket::Socket;
pub(crate) use stream::{Acceptor, Stream};

/// hyper takes headers that are larger than the limit by this much, so that the gateway's own check can answer them in full.
const HEADER_SLACK: usize = 16 * 1024;

/// What the requests of one connection share.
#[derive(Debug)]
pub(crate) struct Client {
    /// The socket's peer; none over a Unix socket.
    pub(crate) peer: Option<SocketAddr>,
    /// The listener that it came by.
    entrance: Arc<Entrance>,
    /// The socket itself, to look whether the client is still there.
    pub(crate) socket: Socket,
    /// How it keeps time.
    pub(crate) pace: Arc<Pace>,
    /// Its place among the connections; held by tunnels too.
    pub(crate) _place: Place,
    /// It counts among the open ones; tunnels too.
    _open: Open,
    /// The worker thread that it lives on.
    pub(crate) worker: usize,
}

impl Client {
    /// The name of the listener that it came by.
    pub(crate) fn listener(&self) -> &str {
        self.entrance.name()
    }

    /// How it speaks to the gateway.
    pub(crate) fn scheme(&self) -> Scheme {
        self.entrance.scheme()
    }
}

/// A connection that was just accepted.
pub(crate) struct Arrival {
    pub(crate) stream: Stream,
    /// The address of its other end, where it has one.
    pub(crate) peer: Option<SocketAddr>,
    /// The listener that it came by.
    pub(crate) entrance: Arc<Entrance>,
    /// Its place among the connections.
    pub(crate) place: Place,
    /// The worker thread that it lives on.
    pub(crate) worker: usize,
}

/// One more in a gauge, until it is dropped.
#[derive(Debug)]
struct Open(Gauge);

impl Open {
    fn one(gauge: &Gauge) -> Open {
        gauge.inc();
        Open(gauge.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Serves `arrival` until it ends, or until `stop` says that the gateway does.
pub(crate) async fn serve(gateway: Arc<Gateway>, arrival: Arrival, stop: watch::Receiver<bool>) {
    let Arrival { stream, peer, entrance, place, worker } = arrival;
    let settings = gateway.settings();
    let pace = Arc::new(Pace::new(&settings, gateway.timer()));
    let socket = Socket::new(stream, Arc::clone(&pace), Arc::clone(gateway.metrics()));
    let client = Arc::new(Client {
        peer,
        entrance,
        socket: socket.clone(),
        pace: Arc::clone(&pace),
        _place: place,
        _open: Open::one(&gateway.metrics().connections),
        worker,
    });
    if run(gateway, &client, &settings, stop).await == End::TooSlow {
        if pace.owes_an_answer() {
            linger::too_slow(&socket);
        }
        return;
    }
    if pace.may_be_unread() {
        linger::read_away(&socket).await;
    }
}

#[derive(PartialEq, Eq)]
enum End {
    Closed,
    TooSlow,
}

async fn run(
    gateway: Arc<Gateway>,
    client: &Arc<Client>,
    settings: &GatewaySettings,
    stop: watch::Receiver<bool>,
) -> End {
    let service = service_fn(|request| Arc::clone(&gateway).answer(Arc::clone(client), request));
    let connection = http1::Builder::new()
        .max_buf_size(settings.max_header_bytes.saturating_add(HEADER_SLACK))
        .max_headers(settings.max_headers)
        .serve_connection(TokioIo::new(client.socket.clone()), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let mut overdue = pin!(client.pace.overdue());
    let mut farewell = pin!(farewell::farewell(&client.pace, stop));
    let mut told = false;
    std::future::poll_fn(move |cx| {
        let mut polled = connection.as_mut().poll(cx);
        if polled.is_pending() && !told && farewell.as_mut().poll(cx).is_ready() {
            told = true;
            connection.as_mut().graceful_shutdown();
            polled = connection.as_mut().poll(cx);
        }
        if let Poll::Ready(ended) = polled {
            if let Err(error) = ended {
                tracing::trace!(%error, "a connection ended");
            }
            return Poll::Ready(End::Closed);
        }
        // After the connection, so that it sees what the connection just did.
        overdue.as_mut().poll(cx).map(|()| End::TooSlow)
    })
    .await
}
