//! A log that takes nothing costs lines, and never a request.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::process::until;

/// `tollgate serve` with its log at `log`, on a port that was free.
struct Gateway(Child, SocketAddr);

impl Gateway {
    fn start(log: Stdio) -> Gateway {
        let folder = tempfile::tempdir().expect("a folder");
        let policy = folder.path().join("policy.yaml");
        // Nobody is behind it, so that there is something to log.
        let yaml = "upstreams: { app: { servers: [\"127.0.0.1:1\"] } }\n\
                    routes:\n- { match: { path: /** }, limits: [], upstream: app }\n";
        std::fs::write(&policy, yaml).expect("a file");
        let address = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a free port");
        let child = Command::new(env!("CARGO_BIN_EXE_tollgate"))
            .arg("serve")
            .arg(policy)
            .args(["--listen", &address.to_string(), "--admin", "127.0.0.1:0", "--workers", "1"])
            .env("TOLLGATE_LOG", "trace")
            .stderr(log)
            .spawn()
            .expect("it starts");
        let gateway = Gateway(child, address);
        until(|| TcpStream::connect(address).is_ok()).expect("it listens");
        // The folder may go: what was read stays in force.
        gateway
    }

    /// Sends so many requests over a connection each; all are answered.
    fn answers(&self, count: usize) {
        for number in 0..count {
            let mut stream = TcpStream::connect(self.1).expect("it takes connections");
            stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
            let request = "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
            stream.write_all(request.as_bytes()).expect("it takes requests");
            let mut answer = String::new();
            let read = stream.read_to_string(&mut answer);
            assert!(answer.starts_with("HTTP/1.1 502 "), "{number}: {read:?} {answer:?}");
        }
    }

    /// Tells it to stop, and waits until it has.
    fn ends(mut self) {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").arg(id).status().expect("kill is there").success());
        let mut status = None;
        until(|| {
            status = self.0.try_wait().expect("it can be waited for");
            status.is_some()
        })
        .expect("it ends");
        assert!(status.is_some_and(|status| status.success()), "{status:?}");
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The first line that could not be written once ended the process.
#[test]
fn a_full_disk_stops_nothing() {
    let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else {
        eprintln!("skipped: this system has no /dev/full, which Linux has");
        return;
    };
    let gateway = Gateway::start(full.into());
    gateway.answers(20);
    gateway.ends();
}

#[test]
fn a_reader_that_is_gone_stops_nothing() {
    let mut gateway = Gateway::start(Stdio::piped());
    drop(gateway.0.stderr.take());
    gateway.answers(20);
    gateway.ends();
}

/// A pipe holds 64 KiB; a thread that waited for more room once served nobody.
#[test]
fn a_reader_that_is_stuck_stops_nothing() {
    let gateway = Gateway::start(Stdio::piped());
    gateway.answers(1_000);
    gateway.ends();
}
