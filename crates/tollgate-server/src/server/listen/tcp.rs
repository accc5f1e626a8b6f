//! One address, several listeners: the kernel spreads connections over those that share a port.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd;

use socket2::{Domain, Protocol, Socket, Type};
#[cfg(any(target_os = "linux", target_os = "android"))]
use socket2::{SockFilter, SockRef};

use super::BACKLOG;

/// `count` listeners on `address`, all on the same port; with `take_over` also where another process of this user listens.
pub(super) fn listen(
    address: SocketAddr,
    count: usize,
    take_over: bool,
) -> io::Result<Vec<TcpListener>> {
    let address = if take_over && address.port() != 0 { address } else { alone(address)? };
    (0..count).map(|_| bind_shared(address)).collect()
}

/// The address with its port, where nobody else has it. A shared port would be shared with another gateway as well, and
/// each would count for itself; so it is asked for alone first.
fn alone(address: SocketAddr) -> io::Result<SocketAddr> {
    let alone = socket(address, false)?;
    alone.bind(&address.into())?;
    Ok(alone.local_addr()?.as_socket().unwrap_or(address))
}

/// Has the kernel drop connection requests to `listener` that begin from now on. Their senders repeat them after a second, and
/// whoever listens then has them; handshakes that have begun are completed (decision 096).
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn hold_off(listener: &impl AsFd) -> io::Result<()> {
    /// The byte of a TCP header that holds its flags, and two of them.
    const FLAGS: u32 = 13;
    const SYN: u32 = 0x02;
    const ACK: u32 = 0x10;
    /// Classic BPF: load a byte, and with a constant, skip unless equal, return how much of the segment is kept.
    const LOAD_BYTE: u16 = 0x30;
    const AND: u16 = 0x54;
    const SKIP_UNLESS: u16 = 0x15;
    const KEEP: u16 = 0x06;
    SockRef::from(listener).attach_filter(&[
        SockFilter::new(LOAD_BYTE, 0, 0, FLAGS),
        SockFilter::new(AND, 0, 0, SYN | ACK),
        SockFilter::new(SKIP_UNLESS, 0, 1, SYN),
        SockFilter::new(KEEP, 0, 0, 0),
        SockFilter::new(KEEP, 0, 0, u32::MAX),
    ])
}

/// Has connection requests dropped, where the system can.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn hold_off(_: &impl AsFd) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn bind_shared(address: SocketAddr) -> io::Result<TcpListener> {
    let shared = socket(address, true)?;
    shared.bind(&address.into())?;
    shared.listen(BACKLOG)?;
    shared.set_nonblocking(true)?;
    Ok(shared.into())
}

fn socket(address: SocketAddr, shared: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    if shared {
        socket.set_reuse_port(true)?;
    }
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_share_one_port_and_nobody_else_does() {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let listeners = listen(any, 3, false).expect("a free port");
        let ports: Vec<_> =
            listeners.iter().map(|one| one.local_addr().expect("an address")).collect();
        assert_eq!(ports.len(), 3);
        assert!(ports.iter().all(|port| *port == ports[0]));
        let second = listen(ports[0], 1, false).expect_err("it is taken");
        assert_eq!(second.kind(), io::ErrorKind::AddrInUse);
        let over = listen(ports[0], 2, true).expect("unless it is taken over");
        assert_eq!(over[1].local_addr().expect("an address"), ports[0]);
    }
}
