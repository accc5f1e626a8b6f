//! Ten thousand clients that stay connected and ask nothing more, and the memory that they cost.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::processor::resident;
use super::server::Server;

/// Clients.
pub(super) const CLIENTS: usize = 10_000;

/// How long they have been idle, at least, when it is looked: either proxy may have given up by then what only a busy connection needs.
const IDLE_FOR: Duration = Duration::from_secs(5);

/// What a proxy takes, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// Resident before anybody came.
    pub(super) before: f64,
    /// Resident with all of them connected.
    pub(super) with_all: f64,
}

impl Memory {
    /// Bytes that each client added.
    pub(super) fn each(&self) -> f64 {
        (self.with_all - self.before) / CLIENTS as f64
    }
}

/// Connects all clients to `server`; each asks once first where `asking`.
pub(super) fn measure(server: &Server, asking: bool) -> Result<Memory, String> {
    raise_the_limit()?;
    ask(server.address, &mut connect(server.address)?)?;
    let before = resident(server.pid())?;
    let mut clients = Vec::with_capacity(CLIENTS);
    for _ in 0..CLIENTS {
        let mut client = connect(server.address)?;
        if asking {
            ask(server.address, &mut client)?;
        }
        clients.push(client);
    }
    // The last of them may not have been accepted yet: an answer to one who came later says that they were.
    ask(server.address, &mut connect(server.address)?)?;
    std::thread::sleep(IDLE_FOR);
    Ok(Memory { before, with_all: resident(server.pid())? })
}

fn connect(address: SocketAddr) -> Result<TcpStream, String> {
    let client = TcpStream::connect(address).map_err(|error| format!("connecting: {error}"))?;
    client
        .set_read_timeout(Some(Duration::from_secs(10)))
        .map_err(|error| format!("a time-out for reading: {error}"))?;
    Ok(client)
}

/// One small request, and its answer whole.
fn ask(address: SocketAddr, client: &mut TcpStream) -> Result<(), String> {
    let request = format!("GET / HTTP/1.1\r\nhost: {address}\r\nx-user: ada\r\n\r\n");
    client.write_all(request.as_bytes()).map_err(|error| format!("asking: {error}"))?;
    let (mut answer, mut buffer) = (Vec::new(), [0; 4096]);
    while !answer.ends_with(b"\r\n\r\nok") {
        match client.read(&mut buffer) {
            Ok(read @ 1..) => answer.extend_from_slice(&buffer[..read]),
            Ok(_) => return Err(unlike(&answer, "the connection was closed")),
            Err(error) => return Err(unlike(&answer, &error.to_string())),
        }
    }
    Ok(())
}

fn unlike(answer: &[u8], why: &str) -> String {
    format!("no whole answer came: {why}; of it: {}", String::from_utf8_lossy(answer))
}

/// Each client takes a file descriptor of this process.
fn raise_the_limit() -> Result<(), String> {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX);
    let needed = CLIENTS as u64 + 200;
    if most < needed {
        return Err(format!("{needed} open files are needed, and `ulimit -Hn` allows {most}"));
    }
    let raised =
        Rlimit { current: Some(needed.max(limit.current.unwrap_or(0)).min(most)), ..limit };
    setrlimit(Resource::Nofile, raised).map_err(|error| format!("`ulimit -n {needed}`: {error}"))
}
