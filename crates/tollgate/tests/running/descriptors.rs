//! File descriptors: the limit on them is raised where that is allowed, and running out of them is survived.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::process::{Running, until};

/// `tollgate serve` under a shell's `ulimit` with `limit`, before a service at `upstream`.
fn serve(limit: &str, folder: &Path, upstream: SocketAddr, more: &str) -> Running {
    let policy = folder.join("policy.yaml");
    let yaml = format!(
        "{more}\nlisten: 127.0.0.1:0\nupstreams: {{ app: {{ servers: [\"{upstream}\"] }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [], upstream: app }}\n"
    );
    std::fs::write(&policy, yaml).expect("a file");
    let line =
        format!("ulimit {limit} && exec \"$0\" serve \"$1\" --admin 127.0.0.1:0 --workers 1");
    Running::start(
        Command::new("sh").args(["-c", &line, env!("CARGO_BIN_EXE_tollgate")]).arg(policy),
    )
}

/// A service that answers one request a connection.
fn service() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let answer = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok";
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

/// The status of an answer to a request over `stream`.
fn ask(stream: &mut TcpStream) -> Option<u16> {
    stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").ok()?;
    let mut head = [0; 12];
    stream.read_exact(&mut head).ok()?;
    std::str::from_utf8(&head[9..]).ok()?.parse().ok()
}

fn soft_limit(process: u32) -> Option<u64> {
    let limits = std::fs::read_to_string(format!("/proc/{process}/limits")).ok()?;
    let line = limits.lines().find(|line| line.starts_with("Max open files"))?;
    line.split_whitespace().nth(3)?.parse().ok()
}

#[test]
fn the_soft_limit_is_raised_to_what_the_policy_can_need() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = serve("-Sn 64", folder.path(), service(), "gateway: { max_connections: 100 }");
    running.gateway();
    // Twice 100, 64 kept to the server, and 512 in reserve.
    let limit = soft_limit(running.id());
    assert!(limit.is_none_or(|limit| limit == 776), "{limit:?}");
    assert!(running.said().contains("from=64 to=776"), "{}", running.said());
    assert!(!running.said().contains("WARN"), "{}", running.said());
}

#[test]
fn a_hard_limit_that_is_too_low_is_warned_of_and_survived() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = serve("-n 64", folder.path(), service(), "");
    let address = running.gateway();
    let warning = running.says("WARN");
    assert!(warning.contains("LimitNOFILE=20576") && warning.contains("allows 64"), "{warning}");

    // More than it can take; the rest waits in the listeners' queues.
    let mut held: Vec<TcpStream> =
        (0..100).map(|_| TcpStream::connect(address).expect("the queue takes it")).collect();
    running.says("cannot accept connections");
    // Those that were accepted get an answer, though there is nothing left to reach the service with.
    let first = ask(&mut held[0]);
    assert_eq!(first, Some(503), "{}", running.said());
    running.says("nothing left to make a connection with");

    drop(held);
    let mut status = None;
    let served = until(|| {
        status = TcpStream::connect(address).ok().and_then(|mut stream| ask(&mut stream));
        status == Some(200)
    });
    assert!(served.is_ok(), "{status:?}: {}", running.said());
    running.says("connections are accepted again");
    assert_eq!(running.said().matches("cannot accept connections").count(), 1);
}
