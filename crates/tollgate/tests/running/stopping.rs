//! How `tollgate serve` ends.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use crate::process::{Running, until};

#[test]
fn a_second_signal_breaks_off_what_the_first_lets_finish() {
    // It takes connections, and never answers.
    let service = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = service.local_addr().expect("an address");
    let folder = tempfile::tempdir().expect("a folder");
    let policy = folder.path().join("policy.yaml");
    let yaml = format!(
        "gateway: {{ drain_timeout: 1h, first_byte_timeout: 1h }}\n\
         upstreams: {{ app: {{ servers: [\"{address}\"] }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [], upstream: app }}\n"
    );
    std::fs::write(&policy, yaml).expect("a file");
    let mut running = Running::start(
        Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("serve").arg(&policy).args([
            "--listen",
            "127.0.0.1:0",
            "--admin",
            "127.0.0.1:0",
        ]),
    );
    let mut client = TcpStream::connect(running.gateway()).expect("it takes connections");
    client.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").expect("it takes requests");
    let _held = service.accept().expect("the request arrives");

    running.signal("TERM");
    running.says("no more connections are taken");
    // The first may be told twice at once; later it is a second one.
    let mut status = None;
    let ended = until(|| {
        running.signal("TERM");
        std::thread::sleep(std::time::Duration::from_millis(100));
        status = running.try_ended();
        status.is_some()
    });
    assert!(ended.is_ok(), "{}", running.said());
    assert!(status.is_some_and(|status| status.success()), "{status:?}");
    running.says("told to stop again: connections are broken off");
}
