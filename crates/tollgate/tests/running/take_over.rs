//! A port changes hands: a new process takes it over while the old one drains, and no connection is lost in between.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::process::{Running, until};

/// Hand-overs in one test.
const TIMES: usize = 4;

/// A service that answers requests until their connection ends.
fn service() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                while stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
                }
            });
        }
    });
    address
}

fn serve(policy: &Path, listen: SocketAddr, admin: SocketAddr, more: &[&str]) -> Running {
    Running::start(
        Command::new(env!("CARGO_BIN_EXE_tollgate"))
            .arg("serve")
            .arg(policy)
            .args(["--listen", &listen.to_string(), "--admin", &admin.to_string()])
            .args(["--workers", "2"])
            .args(more),
    )
}

fn policy(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("policy.yaml");
    let yaml = format!(
        "upstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [], upstream: app }}\n",
        service()
    );
    std::fs::write(&path, yaml).expect("a file");
    path
}

/// One request over a connection of its own.
fn ask(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(20))?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Clients that ask all the time, each over a new connection.
struct Load {
    over: Arc<AtomicBool>,
    served: Arc<AtomicUsize>,
    clients: Vec<std::thread::JoinHandle<Vec<String>>>,
}

impl Load {
    fn start(address: SocketAddr, clients: usize) -> Load {
        let (over, served) = (Arc::new(AtomicBool::new(false)), Arc::<AtomicUsize>::default());
        let client = |_| {
            let (over, served) = (Arc::clone(&over), Arc::clone(&served));
            std::thread::spawn(move || {
                let mut lost = Vec::new();
                while !over.load(Ordering::Relaxed) {
                    match ask(address) {
                        Ok(answer) if answer.starts_with("HTTP/1.1 200 ") => {
                            served.fetch_add(1, Ordering::Relaxed);
                        }
                        other => lost.push(format!("{other:?}")),
                    }
                }
                lost
            })
        };
        let clients = (0..clients).map(client).collect();
        Load { over, served, clients }
    }

    /// Waits until so many more were served.
    fn goes_on(&self, more: usize) {
        let before = self.served.load(Ordering::Relaxed);
        until(|| self.served.load(Ordering::Relaxed) >= before + more).expect("it goes on");
    }

    /// What was not served.
    fn lost(self) -> Vec<String> {
        self.over.store(true, Ordering::Relaxed);
        self.clients.into_iter().flat_map(|client| client.join().expect("no panic")).collect()
    }
}

#[test]
fn no_connection_is_lost_when_a_port_changes_hands() {
    let folder = tempfile::tempdir().expect("a folder");
    let policy = policy(folder.path());
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let mut old = serve(&policy, any, any, &[]);
    let address = old.gateway();
    let admin = old.says("serving ").split("admin=").nth(1).and_then(|rest| {
        rest.split([' ', ')']).next()?.trim_start_matches("Some(").parse::<SocketAddr>().ok()
    });
    let admin = admin.unwrap_or_else(|| panic!("no address of the admin listener: {}", old.said()));
    let load = Load::start(address, 4);
    load.goes_on(20);
    for _ in 0..TIMES {
        let new = serve(&policy, address, admin, &["--take-over"]);
        assert_eq!(new.gateway(), address);
        old.signal("TERM");
        assert!(old.ended().success(), "{}", old.said());
        load.goes_on(20);
        old = new;
    }
    let lost = load.lost();
    assert!(lost.is_empty(), "{} lost, the first: {}", lost.len(), lost[0]);
}

#[test]
fn a_port_is_not_taken_over_by_mistake() {
    let folder = tempfile::tempdir().expect("a folder");
    let policy = policy(folder.path());
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let first = serve(&policy, any, any, &[]);
    let mut second = serve(&policy, first.gateway(), any, &[]);
    assert!(!second.ended().success());
    second.says("somebody listens on");
    second.says("--take-over");
    assert!(ask(first.gateway()).is_ok_and(|answer| answer.starts_with("HTTP/1.1 200 ")));
}
