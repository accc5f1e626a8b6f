//! A `redis-server` on a spare port of the loopback, for as long as it is measured.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};

/// The server; it ends when it is dropped.
pub struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts it; `None` where it is not installed.
    pub fn start() -> Option<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let child = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no", "--loglevel", "warning"])
            .stdout(Stdio::null())
            .spawn()
            .ok()?;
        let server = Server { child, port };
        while server.try_connect().is_none() {
            std::thread::yield_now();
        }
        Some(server)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    /// The same for a store.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address())
    }

    /// A connection.
    pub fn connect(&self) -> redis::Connection {
        self.try_connect().expect("a connection")
    }

    fn try_connect(&self) -> Option<redis::Connection> {
        redis::Client::open(self.url()).ok()?.get_connection().ok()
    }

    /// Processor time that its one thread has taken, user's and system's, in microseconds.
    pub fn cpu_micros(&self) -> f64 {
        let path = format!("/proc/{0}/task/{0}/schedstat", self.child.id());
        let text = std::fs::read_to_string(path).expect("the scheduler's word");
        let nanos = text.split(' ').next().and_then(|number| number.parse::<f64>().ok());
        nanos.expect("a number") / 1000.0
    }

    /// Bytes that it has asked for.
    pub fn used_memory(&self) -> f64 {
        self.info("used_memory")
    }

    /// How often a script was called.
    pub fn scripts_called(&self) -> f64 {
        let query = redis::cmd("INFO").arg("commandstats").to_owned();
        let text: String = query.query(&mut self.connect()).expect("INFO");
        let calls = |line: &str| {
            let calls = line.strip_prefix("cmdstat_evalsha:calls=")?;
            calls.split(',').next()?.parse().ok()
        };
        text.lines().find_map(calls).unwrap_or(0.0)
    }

    /// Forgets every key.
    pub fn flush(&self) {
        let _: () = redis::cmd("FLUSHALL").query(&mut self.connect()).expect("an answer");
    }

    fn info(&self, name: &str) -> f64 {
        let text: String = redis::cmd("INFO").query(&mut self.connect()).expect("INFO");
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|number| number.trim().parse().ok()).expect("a number")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
