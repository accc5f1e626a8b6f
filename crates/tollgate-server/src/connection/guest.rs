//! A connection between two requests, or before its first: as little as can be kept of it.

use std::net::IpAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use tollgate_core::Timestamp;
use tollgate_policy::ClientCertificate;
use tollgate_policy::settings::GatewaySettings;
use tollgate_store::Clock;

use super::pace::Begun;
use super::transport::Transport;
use super::{Arrival, Client, Entrance, Open, Pace, Peer, Place, Socket, Stream};
use crate::gateway::Gateway;

/// A connection that waits for its client: nobody reads it, and it has no buffers.
pub(crate) struct Guest {
    pub(super) stage: Stage,
    /// Since when it waits, by the gateway's own clock.
    pub(super) since: Timestamp,
    pub(super) who: Who,
}

/// How far a connection has come.
pub(super) enum Stage {
    /// Nothing has been read of it.
    New(Stream),
    /// It had an answer, and HTTP/1.1 goes on.
    Kept(Transport),
}

/// What a connection is known by for as long as it is open.
pub(super) struct Who {
    address: Option<IpAddr>,
    pub(super) entrance: Arc<Entrance>,
    // Few have one.
    certificate: Option<Box<ClientCertificate>>,
    place: Place,
    open: Open,
}

impl Guest {
    /// One that just came.
    pub(super) fn new(gateway: &Gateway, arrival: Arrival) -> Guest {
        let Arrival { stream, peer, entrance, place } = arrival;
        let open = Open::one(&gateway.metrics().connections);
        let address = peer.map(|peer| peer.ip());
        let who = Who { address, entrance, certificate: None, place, open };
        Guest { stage: Stage::New(stream), since: gateway.timer().now(), who }
    }

    /// What remains of `client`, of which `unread` was read too early. `None` where somebody else still has it.
    pub(super) fn of(client: Arc<Client>, unread: &Bytes) -> Option<Guest> {
        let Client { peer, entrance, certificate, socket, pace, place, open, .. } =
            Arc::into_inner(client)?;
        let mut transport = socket.into_transport()?;
        transport.put_back(unread);
        let certificate = certificate.map(Box::new);
        let who = Who { address: peer.address, entrance, certificate, place, open };
        Some(Guest { stage: Stage::Kept(transport), since: pace.since(), who })
    }

    /// What is known of its time.
    pub(super) fn begun(&self) -> Begun {
        match self.stage {
            Stage::New(_) => Begun::Connected(self.since),
            Stage::Kept(_) => Begun::Idle(self.since),
        }
    }

    /// The moment after which its client is too slow.
    pub(super) fn deadline(&self, settings: &GatewaySettings) -> Timestamp {
        let longest = match self.stage {
            Stage::New(_) => settings.header_timeout,
            Stage::Kept(_) => settings.idle_timeout,
        };
        Timestamp::from_micros(self.since.as_micros().saturating_add(longest.get()))
    }

    /// Something of a next request is here already.
    pub(super) fn has_more(&self) -> bool {
        matches!(&self.stage, Stage::Kept(transport) if transport.has_more())
    }

    /// Whether its client has said something, or has gone.
    pub(super) fn poll_said(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.stage {
            // The runtime takes a new socket for one that can be read: only reading tells.
            Stage::New(stream) => stream.poll_look(cx).map(|_| ()),
            Stage::Kept(transport) => transport.poll_readable(cx),
        }
    }
}

impl Who {
    /// The client as its requests see it.
    pub(super) fn client(
        self,
        shown: Option<ClientCertificate>,
        socket: Socket,
        pace: Arc<Pace>,
        worker: usize,
    ) -> Client {
        let Who { address, entrance, certificate, place, open } = self;
        let certificate = shown.or(certificate.map(|known| *known));
        Client {
            peer: Peer::new(address),
            entrance,
            certificate,
            socket,
            pace,
            place,
            open,
            worker,
        }
    }
}
