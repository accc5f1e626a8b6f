//! Who is behind a connection that was just accepted: the socket's peer, or whom a balancer says that it passes on. It comes
//! before everything else, TLS included.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::watch;
use tollgate_http::proxy_protocol::{Malformed, Origin, Reader};
use tollgate_store::Clock;

use super::{Arrival, LAST_CALL, Stream};
use crate::gateway::Gateway;
use crate::metrics::ProxyProtocolError;

/// Bytes that are looked at in one go.
const PIECE: usize = 512;

/// Why a connection that must begin with a PROXY protocol header does not.
#[derive(Debug)]
enum NoHeader {
    /// What came is none.
    Malformed(Malformed),
    /// It did not come in time.
    Slow,
    /// The connection was closed before its first byte, as checks of health do.
    Empty,
    /// It was closed or broke within the header.
    Cut,
}

/// Whether `arrival` begins with a PROXY protocol header.
pub(crate) fn is_introduced(arrival: &Arrival) -> bool {
    arrival.peer.is_some_and(|peer| arrival.entrance.takes_headers_from(peer.ip()))
}

/// Learns who is behind `arrival`, which says so. `None` where it did not and was closed.
pub(crate) async fn introduce(
    gateway: &Gateway,
    mut arrival: Arrival,
    stop: watch::Receiver<bool>,
) -> Option<Arrival> {
    let peer = arrival.peer?;
    let longest = Duration::from_micros(gateway.settings().header_timeout.get());
    match header(&arrival.stream, longest, stop).await {
        Ok(Origin::Socket) => {}
        Ok(Origin::Client { source, .. }) => arrival.peer = Some(source),
        Err(why) => {
            refuse(gateway, peer, &why);
            return None;
        }
    }
    Some(arrival)
}

/// Counts `arrival` among the connections of its address. `None` where that has too many, and it was closed.
pub(crate) fn admit(gateway: &Gateway, arrival: Arrival) -> Option<Arrival> {
    let Some(peer) = arrival.peer else { return Some(arrival) };
    match gateway.join(peer.ip()) {
        Ok(member) => Some(Arrival { place: arrival.place.of(member), ..arrival }),
        Err(most) => {
            let (arrivals, metrics) = (gateway.arrivals(), gateway.metrics());
            let turned_away = (arrival.stream, arrival.entrance.scheme());
            let now = gateway.timer().now();
            arrivals.turn_one_of_many_away(turned_away, (peer.ip(), most), now, metrics);
            None
        }
    }
}

/// Reads a header off `stream`, and nothing that follows it.
async fn header(
    stream: &Stream,
    longest: Duration,
    mut stop: watch::Receiver<bool>,
) -> Result<Origin, NoHeader> {
    // Listeners at a path have no peers by address, so none of theirs is listed.
    let Some(stream) = stream.as_tcp() else { return Ok(Origin::Socket) };
    let stopped = async {
        // The sender lives as long as the gateway.
        let _ = stop.wait_for(|stop| *stop).await;
        tokio::time::sleep(LAST_CALL).await;
    };
    tokio::select! {
        read = read(stream) => read,
        () = tokio::time::sleep(longest) => Err(NoHeader::Slow),
        () = stopped => Err(NoHeader::Slow),
    }
}

async fn read(stream: &TcpStream) -> Result<Origin, NoHeader> {
    let mut reader = Reader::default();
    let mut piece = [0; PIECE];
    loop {
        let there = stream.peek(&mut piece).await.map_err(|_| NoHeader::Cut)?;
        if there == 0 {
            return Err(if reader.has_begun() { NoHeader::Cut } else { NoHeader::Empty });
        }
        let seen = piece.get(..there).unwrap_or_default();
        let progress = reader.read(seen).map_err(NoHeader::Malformed)?;
        take(stream, &mut piece, progress.taken).await.map_err(|_| NoHeader::Cut)?;
        if let Some(origin) = progress.origin {
            return Ok(origin);
        }
    }
}

/// Takes `count` bytes off `stream` that were looked at before.
async fn take(stream: &TcpStream, piece: &mut [u8; PIECE], mut count: usize) -> io::Result<()> {
    while count > 0 {
        stream.readable().await?;
        match stream.try_read(piece.get_mut(..count).unwrap_or_default()) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => count -= read,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn refuse(gateway: &Gateway, peer: SocketAddr, why: &NoHeader) {
    let (kind, what) = match why {
        NoHeader::Malformed(Malformed::NoHeader) => {
            (ProxyProtocolError::Missing, Malformed::NoHeader.to_string())
        }
        NoHeader::Malformed(malformed) => (ProxyProtocolError::Malformed, malformed.to_string()),
        NoHeader::Slow => {
            (ProxyProtocolError::Slow, "no whole header came within header_timeout".to_owned())
        }
        NoHeader::Empty | NoHeader::Cut => {
            (ProxyProtocolError::Closed, "the connection was closed within its header".to_owned())
        }
    };
    gateway.metrics().proxy_protocol.failed(kind);
    // A balancer that looks whether the port is open says nothing, and is no trouble.
    if !matches!(why, NoHeader::Empty) {
        gateway.arrivals().unintroduced(peer, &what);
    }
}
