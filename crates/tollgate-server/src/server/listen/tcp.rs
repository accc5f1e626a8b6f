//! One address, several listeners: the kernel spreads connections over those that share a port.

use std::io;
use std::net::{SocketAddr, TcpListener};

use socket2::{Domain, Protocol, Socket, Type};

use super::BACKLOG;

/// `count` listeners on `address`, all on the same port.
pub(super) fn listen(address: SocketAddr, count: usize) -> io::Result<Vec<TcpListener>> {
    // A shared port would be shared with another gateway as well, and each would count for itself; so first ask for it alone.
    let alone = socket(address, false)?;
    alone.bind(&address.into())?;
    let address = alone.local_addr()?.as_socket().unwrap_or(address);
    drop(alone);
    (0..count).map(|_| bind_shared(address)).collect()
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
        let listeners = listen(any, 3).expect("a free port");
        let ports: Vec<_> =
            listeners.iter().map(|one| one.local_addr().expect("an address")).collect();
        assert_eq!(ports.len(), 3);
        assert!(ports.iter().all(|port| *port == ports[0]));
        let second = listen(ports[0], 1).expect_err("it is taken");
        assert_eq!(second.kind(), io::ErrorKind::AddrInUse);
    }
}
