//! Thousands of clients that asked once and stay: what they cost the process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use crate::process::{Running, until};

/// Clients that come together; they have buffers until they rest.
const TOGETHER: usize = 250;
/// How often so many come.
const TIMES: usize = 12;
/// What each may cost, in bytes. Its buffers alone would be 16 KiB; what only waits is less than a tenth of that.
const EACH: f64 = 4096.0;

/// A service that answers whatever comes, over kept connections.
fn service() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut reader = BufReader::new(&stream);
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
                    if line == "\r\n" {
                        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
                        let _ = (&stream).write_all(answer);
                    }
                    line.clear();
                }
            });
        }
    });
    address
}

fn metric(admin: SocketAddr, series: &str) -> Option<f64> {
    let mut stream = TcpStream::connect(admin).ok()?;
    let request = "GET /metrics HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).ok()?;
    let mut page = String::new();
    stream.read_to_string(&mut page).ok()?;
    let lines = page.lines().filter_map(|line| line.split_once(' '));
    lines.filter(|(name, _)| *name == series).find_map(|(_, value)| value.parse().ok())
}

/// A client that asked once and had its answer.
fn client(gateway: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(gateway).expect("it takes connections");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").expect("it takes a request");
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\nok") {
        let mut piece = [0; 512];
        let read = stream.read(&mut piece).expect("an answer");
        assert!(read > 0, "it was closed after {answer:?}");
        answer.extend_from_slice(&piece[..read]);
    }
    stream
}

#[test]
fn thousands_who_stay_cost_little() {
    let folder = tempfile::tempdir().expect("a folder");
    let policy = folder.path().join("policy.yaml");
    let yaml = format!(
        "listen: 127.0.0.1:0\nupstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [], upstream: app }}\n",
        service()
    );
    std::fs::write(&policy, yaml).expect("a file");
    let command = env!("CARGO_BIN_EXE_tollgate");
    let arguments = ["serve", "--admin", "127.0.0.1:0", "--workers", "1"];
    let running = Running::start(Command::new(command).args(arguments).arg(&policy));
    let (gateway, admin) = (running.gateway(), running.admin());
    let resident = || metric(admin, "tollgate_resident_memory_bytes").expect("a page");
    let mut clients = Vec::new();
    let mut come = || {
        clients.extend((0..TOGETHER).map(|_| client(gateway)));
        let all = clients.len() as f64;
        until(|| metric(admin, "tollgate_connections_at_rest") == Some(all)).expect("all rest");
    };
    // The first of them make the process as large as it gets by those who do not rest yet.
    come();
    let before = resident();
    (1..TIMES).for_each(|_| come());
    let each = (resident() - before) / ((TIMES - 1) * TOGETHER) as f64;
    assert!(each < EACH, "{each} bytes each");
    assert!(clients.iter().all(|client| client.peer_addr().is_ok()));
}
