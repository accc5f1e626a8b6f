//! Connections that come and are not served: turned away because there is no place, or never accepted.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use tollgate_core::Timestamp;

use crate::connection::{self, Places, Refusal, Scheme, Stream};
use crate::metrics::Metrics;
use crate::spell::Spell;

/// At most so many of those turned away are given time to read why; beyond that they are closed at once.
const SEEN_OFF: usize = 256;

/// What becomes of connections that are not served, over all threads of a gateway.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    turned_away: Spell,
    crowded: Spell,
    unintroduced: Spell,
    unaccepted: Spell,
    seen_off: Arc<Places>,
}

impl Arrivals {
    /// Answers a connection that finds `most` others open, at `now` by the gateway's own clock.
    pub(crate) fn turn_away(
        &self,
        stream: (Stream, Scheme),
        most: usize,
        now: Timestamp,
        metrics: &Metrics,
    ) {
        metrics.connections_rejected.inc();
        if self.turned_away.note() {
            tracing::warn!(
                max_connections = most,
                "max_connections are open: further connections are answered 503; raise `gateway: {{ max_connections }}` \
                 if the machine bears more"
            );
        }
        self.refuse(stream, &connection::no_place(now), metrics);
    }

    /// Answers a connection that finds `most` others of its address open.
    pub(crate) fn turn_one_of_many_away(
        &self,
        stream: (Stream, Scheme),
        (address, most): (IpAddr, usize),
        now: Timestamp,
        metrics: &Metrics,
    ) {
        metrics.connections_crowded.inc();
        if self.crowded.note() {
            tracing::warn!(
                %address,
                max_connections_per_address = most,
                "an address has as many connections as it may: further ones are answered 429"
            );
        }
        self.refuse(stream, &connection::crowded(now), metrics);
    }

    fn refuse(&self, (stream, scheme): (Stream, Scheme), refusal: &Refusal, metrics: &Metrics) {
        if scheme == Scheme::Https {
            // A handshake only to say so would cost what is short.
            return;
        }
        metrics.answered(refusal.status);
        // Whoever does not take it has lost nothing but an explanation.
        let _ = stream.try_write(&refusal.bytes);
        if let Some(place) = self.seen_off.take(SEEN_OFF) {
            tokio::spawn(async move {
                connection::see_off(stream).await;
                drop(place);
            });
        }
    }

    /// Notes that `peer` should have sent a PROXY protocol header, and what came of it.
    pub(crate) fn unintroduced(&self, peer: SocketAddr, what: &str) {
        if self.unintroduced.note() {
            tracing::warn!(
                %peer,
                "a connection from a network in `proxy_protocol` was closed: {what}; have it send the header, or take its \
                 network off the list"
            );
        }
    }

    /// Notes that a connection could not be accepted.
    pub(crate) fn unaccepted(&self, error: &io::Error, metrics: &Metrics) {
        metrics.accept_errors.inc();
        if self.unaccepted.note() {
            tracing::warn!(%error, "the gateway cannot accept connections; they wait in the listener's queue");
        }
    }

    /// Sums up what is over since the last look; one thread looks.
    pub(crate) fn sum_up(&self) {
        if let Some(times) = self.turned_away.over() {
            tracing::warn!(times, "connections find a place again; so many were answered 503");
        }
        if let Some(times) = self.crowded.over() {
            tracing::warn!(
                times,
                "no address has too many connections any more; so many were answered 429"
            );
        }
        if let Some(times) = self.unintroduced.over() {
            tracing::warn!(
                times,
                "PROXY protocol headers are in order again; so many connections were closed for theirs"
            );
        }
        if let Some(times) = self.unaccepted.over() {
            tracing::warn!(times, "connections are accepted again; it failed so many times");
        }
    }
}
