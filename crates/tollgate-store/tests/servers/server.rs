//! One server.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use redis::{FromRedisValue, RedisResult};
use tempfile::TempDir;

use super::{Program, until};

/// A server of one test, until it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    program: Program,
    port: u16,
    arguments: Vec<String>,
    folder: TempDir,
    child: Option<Child>,
}

impl Server {
    /// A server with its defaults, but for what a test has no use for: it saves nothing.
    pub(crate) fn start(program: &Program) -> Server {
        Server::with(program, &[])
    }

    /// A server with more arguments, as its command line takes them.
    pub(crate) fn with(program: &Program, arguments: &[&str]) -> Server {
        Server::made(program, |_, _| arguments.iter().map(|&word| word.to_owned()).collect())
    }

    /// A server with arguments that depend on its port and its folder.
    pub(super) fn made(program: &Program, arguments: impl Fn(u16, &Path) -> Vec<String>) -> Server {
        for _ in 0..10 {
            let (port, folder) = (spare_port(), tempfile::tempdir().expect("a folder"));
            let arguments = arguments(port, folder.path());
            let mut server =
                Server { program: program.clone(), port, arguments, folder, child: None };
            // Another test may have taken the port meanwhile.
            if server.try_start() {
                return server;
            }
            let log = std::fs::read_to_string(server.folder().join("log")).unwrap_or_default();
            eprintln!("{} did not start: {log}", program.name);
        }
        panic!("{} does not start on any of ten ports", program.name);
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://{}", self.address())
    }

    /// Its folder, in which it also listens on a socket file.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder().join("socket")
    }

    /// A connection for what the test itself asks.
    pub(crate) fn client(&self) -> RedisResult<redis::Connection> {
        redis::Client::open(self.url())?.get_connection_with_timeout(Duration::from_secs(5))
    }

    /// Runs a command.
    #[track_caller]
    pub(crate) fn run<T: FromRedisValue>(&self, words: &[&str]) -> T {
        self.try_run(words).unwrap_or_else(|error| panic!("{words:?}: {error}"))
    }

    pub(crate) fn try_run<T: FromRedisValue>(&self, words: &[&str]) -> RedisResult<T> {
        let (name, arguments) = words.split_first().expect("a command");
        redis::cmd(name).arg(arguments).query(&mut self.client()?)
    }

    /// A number of `INFO`.
    #[track_caller]
    pub(crate) fn info(&self, name: &str) -> u64 {
        let text: String = self.run(&["INFO", "everything"]);
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|number| number.trim().parse().ok())
            .unwrap_or_else(|| panic!("no number {name} in INFO"))
    }

    /// Every key, as `SCAN` finds it.
    #[track_caller]
    pub(crate) fn keys(&self) -> Vec<Vec<u8>> {
        let mut client = self.client().expect("a connection");
        let keys = redis::cmd("SCAN").cursor_arg(0).clone().iter(&mut client).expect("keys");
        keys.map(|key| key.expect("a key")).collect()
    }

    /// Fails where a key would stay for ever.
    #[track_caller]
    pub(crate) fn assert_every_key_expires(&self) {
        let mut client = self.client().expect("a connection");
        for key in self.keys() {
            let left: i64 = redis::cmd("PTTL").arg(&key).query(&mut client).expect("a TTL");
            // -2: it has expired since.
            assert!(left != -1, "no TTL on {:?}", String::from_utf8_lossy(&key));
        }
    }

    /// Ends it as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Starts it again, on the same port and with nothing that it knew.
    #[track_caller]
    pub(crate) fn revive(&mut self) {
        assert!(self.try_start(), "{} starts again on port {}", self.program.name, self.port);
    }

    /// Stops it as a machine that hangs: it takes connections and bytes, and answers nothing.
    pub(crate) fn pause(&self) {
        self.signal("-STOP");
    }

    pub(crate) fn resume(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let child = self.child.as_ref().expect("it runs");
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "kill {signal}");
    }

    /// Starts it; false where it ended at once.
    fn try_start(&mut self) -> bool {
        let mut command = Command::new(&self.program.path);
        // Sentinels write what they learn into a file that must come first, with all their options in it.
        if self.arguments.first().is_some_and(|first| first.starts_with('/')) {
            command.args(&self.arguments);
        } else {
            command
                .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1"])
                .args(["--save", "", "--appendonly", "no", "--loglevel", "warning"])
                .arg("--dir")
                .arg(self.folder.path())
                .arg("--unixsocket")
                .arg(self.socket())
                .args(&self.arguments);
        }
        let log = std::fs::File::create(self.folder().join("log")).expect("a log");
        let errors = log.try_clone().expect("a log");
        command.stdout(log).stderr(errors);
        self.child = Some(command.spawn().expect("the server's program starts"));
        let mut ended = false;
        until("the server answers", || {
            ended = self
                .child
                .as_mut()
                .is_some_and(|child| child.try_wait().is_ok_and(|s| s.is_some()));
            ended || self.answers()
        });
        !ended
    }

    /// Whether it answers, if only with an error (a password may be needed).
    fn answers(&self) -> bool {
        use std::io::{Read, Write};
        let Ok(mut stream) = std::net::TcpStream::connect(self.address()) else { return false };
        let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
        let mut first = [0];
        stream.write_all(b"PING\r\n").is_ok() && stream.read_exact(&mut first).is_ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A port that was free a moment ago.
pub(super) fn spare_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("an address").port()
}
