//! Life under a service manager: sockets that it opened, and what it is told. The test is the manager.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::process::Running;

/// A policy whose service nobody is: what is asked is answered 502.
fn policy(folder: &Path, listen: &str) -> std::path::PathBuf {
    let path = folder.join("policy.yaml");
    let yaml = format!(
        "listen: {listen}\nupstreams: {{ app: {{ servers: [\"127.0.0.1:1\"] }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [], upstream: app }}\n"
    );
    std::fs::write(&path, yaml).expect("a file");
    path
}

fn serve(policy: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
    command.arg("serve").arg(policy).args(["--admin", "127.0.0.1:0", "--workers", "2"]);
    command
}

/// Has `command` inherit `socket` as the only one that is handed on, called `name`.
fn hand_on(command: &mut Command, socket: &impl AsFd, name: &str) {
    let descriptor = socket.as_fd();
    rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::empty()).expect("it can be inherited");
    command
        .env("LISTEN_FDS", "1")
        .env("LISTEN_FDS_FIRST_FD", descriptor.as_raw_fd().to_string())
        .env("LISTEN_FDNAMES", name);
}

fn status(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).expect("somebody listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time-out");
    stream.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").expect("it is taken");
    let mut head = [0; 12];
    stream.read_exact(&mut head).expect("an answer");
    String::from_utf8_lossy(&head[9..]).into_owned()
}

#[test]
fn a_socket_that_the_manager_opened_outlives_the_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let policy = policy(folder.path(), "systemd:http");
    let socket = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = socket.local_addr().expect("an address");
    for _ in 0..2 {
        let mut command = serve(&policy);
        hand_on(&mut command, &socket, "http");
        let mut running = Running::start(&mut command);
        assert_eq!(running.gateway(), address);
        assert_eq!(status(address), "502");
        running.signal("TERM");
        assert!(running.ended().success(), "{}", running.said());
    }
    // Nobody serves, and the connection waits in the queue until somebody does.
    let mut waiting = TcpStream::connect(address).expect("the queue takes it");
    waiting.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n").expect("it is taken");
    let mut command = serve(&policy);
    hand_on(&mut command, &socket, "http");
    let running = Running::start(&mut command);
    running.gateway();
    let mut head = [0; 12];
    waiting.read_exact(&mut head).expect("an answer");
    assert_eq!(&head[9..], b"502");
}

#[test]
fn a_socket_that_is_not_there_is_an_error_that_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let policy = policy(folder.path(), "systemd:http");
    let mut alone = Running::start(&mut serve(&policy));
    assert!(!alone.ended().success());
    alone.says("not started with a socket called `http`");
    let socket = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let mut command = serve(&policy);
    hand_on(&mut command, &socket, "web");
    let mut misnamed = Running::start(&mut command);
    assert!(!misnamed.ended().success());
    misnamed.says("but with `web`");
}

#[test]
fn the_manager_is_told_of_every_stage() {
    let folder = tempfile::tempdir().expect("a folder");
    let policy = policy(folder.path(), "127.0.0.1:0");
    let path = folder.path().join("notify");
    let manager = UnixDatagram::bind(&path).expect("a socket");
    manager.set_read_timeout(Some(Duration::from_secs(30))).expect("a time-out");
    let told = |what: &str| {
        let mut buffer = [0; 256];
        loop {
            let length = manager.recv(&mut buffer).unwrap_or_else(|_| panic!("not told {what}"));
            let lines = String::from_utf8_lossy(&buffer[..length]).into_owned();
            if lines.starts_with(what) {
                return lines;
            }
            assert_eq!(lines, "WATCHDOG=1", "in place of {what}");
        }
    };
    let mut command = serve(&policy);
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "600000");
    let mut running = Running::start(&mut command);
    told("READY=1\n");
    told("WATCHDOG=1");
    told("WATCHDOG=1");
    running.signal("HUP");
    assert!(told("RELOADING=1\n").contains("\nMONOTONIC_USEC="));
    told("READY=1\n");
    running.signal("TERM");
    told("STOPPING=1\n");
    assert!(running.ended().success(), "{}", running.said());
}
