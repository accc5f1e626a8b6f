//! One client's connection, on a socket that is watched for slowness:
//!
//! ```text
//! stream -> greeting (what is spoken, TLS) -> transport -> socket (time, refusals, floods) -> http1 or http2
//! ```
//!
//! While it waits for its client it is a guest in the lot of its thread: before its first byte, and in a longer silence after
//! an answer over HTTP/1.1.

mod bells;
mod crowd;
mod entrance;
mod farewell;
mod greeting;
mod guest;
mod http1;
mod http2;
mod interim;
mod introduction;
mod linger;
mod lot;
mod pace;
mod peer;
mod places;
mod refusals;
mod socket;
mod stream;
mod transport;

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::watch;
use tollgate_policy::ClientCertificate;

use crate::gateway::Gateway;
use crate::metrics::Handshake;
use greeting::{Ended, Greeted, Protocol};
use guest::{Guest, Stage};

pub(crate) use crowd::{Crowd, Member};
pub(crate) use entrance::{Entrance, Scheme};
pub(crate) use farewell::LAST_CALL;
pub(crate) use introduction::{admit, introduce, is_introduced};
pub(crate) use linger::see_off;
pub(crate) use lot::Lot;
pub(crate) use pace::{Pace, Turn};
pub(crate) use peer::Peer;
pub(crate) use places::{Place, Places};
pub(crate) use refusals::{Refusal, crowded, no_place};
pub(crate) use socket::Socket;
pub(crate) use stream::{Acceptor, Stream};

/// What the requests of one connection share.
#[derive(Debug)]
pub(crate) struct Client {
    /// The socket's peer.
    pub(crate) peer: Peer,
    /// The listener that it came by.
    entrance: Arc<Entrance>,
    /// What its certificate says, where it showed one.
    pub(crate) certificate: Option<ClientCertificate>,
    /// The socket itself, to look whether the client is still there.
    pub(crate) socket: Socket,
    /// How it keeps time.
    pub(crate) pace: Arc<Pace>,
    /// Its place among the connections; held by tunnels too.
    place: Place,
    /// It counts among the open ones; tunnels too.
    open: Open,
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

/// Serves `guest`, which came to `lot`, until it ends or has nothing to say for a while.
async fn serve(lot: Arc<Lot>, mut guest: Guest) {
    loop {
        match visit(&lot, guest).await {
            Some(next) if next.has_more() => guest = next,
            Some(next) => return lot.keep(next),
            None => return,
        }
    }
}

/// Serves `guest` until it ends; gives it back where it came to rest.
async fn visit(lot: &Lot, guest: Guest) -> Option<Guest> {
    let (gateway, stop) = (&lot.gateway, &lot.stop);
    let settings = gateway.settings();
    let turns = &gateway.metrics().in_flight;
    let pace = Arc::new(Pace::new(&settings, gateway.timer(), guest.begun(), turns));
    let Guest { stage, who, .. } = guest;
    let greeted = match stage {
        Stage::New(stream) => begin(gateway, stream, &who.entrance, &pace, stop.clone()).await?,
        Stage::Kept(transport) => {
            Greeted { transport, protocol: Protocol::Http1, certificate: None }
        }
    };
    let Greeted { transport, protocol, certificate } = greeted;
    let socket = Socket::new(transport, Arc::clone(&pace), Arc::clone(gateway.metrics()));
    let client = who.client(certificate, socket.clone(), Arc::clone(&pace), lot.worker);
    drop(socket);
    let client = Arc::new(client);
    let end = match protocol {
        Protocol::Http1 => http1::run(gateway, &client, &settings, stop.clone()).await,
        Protocol::Http2 => http2::run(gateway, &client, &settings, stop.clone()).await,
    };
    match end {
        End::AtRest { unread } => return Guest::of(client, &unread),
        End::TooSlow if pace.owes_an_answer() => linger::too_slow(&client.socket),
        End::Closed if pace.may_be_unread() => linger::read_away(&client.socket).await,
        End::TooSlow | End::Closed => {}
    }
    None
}

/// Waits for what the client begins with, and agrees on TLS; within the time of a header.
async fn begin(
    gateway: &Gateway,
    stream: Stream,
    entrance: &Entrance,
    pace: &Pace,
    mut stop: watch::Receiver<bool>,
) -> Option<Greeted> {
    let metrics = gateway.metrics();
    let in_the_clear = entrance.tls().is_none();
    let stopped = async {
        // Where nobody can say so any more the gateway goes on; a handshake is let come to its end.
        let told = stop.wait_for(|stop| *stop).await.is_ok();
        if !(told && in_the_clear) {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(LAST_CALL).await;
    };
    let greeted = tokio::select! {
        biased;
        greeted = greeting::greet(stream, entrance, metrics) => greeted,
        () = pace.overdue() => {
            if !in_the_clear {
                metrics.shook(entrance.name(), Handshake::Slow);
            }
            return None;
        }
        () = stopped => return None,
    };
    match greeted {
        Ok(greeted) => Some(greeted),
        Err(Ended::Gone) => None,
        Err(Ended::Refused(stream, refusal)) => {
            let refusal = refusal(pace.now());
            metrics.answered(refusal.status);
            // Whoever does not take it has lost nothing but an explanation.
            let _ = stream.try_write(&refusal.bytes);
            see_off(stream).await;
            None
        }
    }
}

/// How HTTP ended on a connection.
enum End {
    Closed,
    TooSlow,
    /// Nothing came for a while after an answer, but `unread` of a next request.
    AtRest {
        unread: Bytes,
    },
}
