//! What the store sends, written down on its way to the server: so that ours and the peer are then asked by one and the
//! same plain client, and the server's time is compared and nothing else.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A listener that passes everything on.
pub struct Recorder {
    address: SocketAddr,
    sent: Arc<Mutex<Vec<u8>>>,
}

impl Recorder {
    /// Listens for connections to the server at `upstream`. Its threads end with the process.
    pub fn start(upstream: SocketAddr) -> Recorder {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("an address");
        let sent = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&sent);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(upstream).expect("the server");
                pass(&client, &server, Some(Arc::clone(&record)));
                pass(&server, &client, None);
            }
        });
        Recorder { address, sent }
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// The calls of scripts that were sent since the last time, in their order.
    pub fn calls(&self) -> Vec<Vec<u8>> {
        let bytes = std::mem::take(&mut *self.sent.lock().expect("the record"));
        let mut rest = &bytes[..];
        let mut calls = Vec::new();
        while let Some(length) = command_length(rest) {
            let (command, behind) = rest.split_at(length);
            if command.windows(9).take(16).any(|word| word == b"\nEVALSHA\r") {
                calls.push(command.to_vec());
            }
            rest = behind;
        }
        calls
    }
}

fn pass(from: &TcpStream, to: &TcpStream, record: Option<Arc<Mutex<Vec<u8>>>>) {
    let mut from = from.try_clone().expect("a connection");
    let mut to = to.try_clone().expect("a connection");
    thread::spawn(move || {
        let mut buffer = [0; 65_536];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            if let Some(record) = &record {
                record.lock().expect("the record").extend_from_slice(&buffer[..length]);
            }
            if to.write_all(&buffer[..length]).is_err() {
                return;
            }
        }
    });
}

/// Bytes of the command (an array of bulk strings) that `bytes` begin with; `None` where there is no whole one.
fn command_length(bytes: &[u8]) -> Option<usize> {
    let (words, mut at) = number(bytes, 0)?;
    for _ in 0..words {
        let (length, begin) = number(bytes, at)?;
        at = begin + length + 2;
    }
    (at <= bytes.len()).then_some(at)
}

/// The number of the line that begins at `at`, behind its first letter, and where the next line begins.
pub fn number(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let line = bytes.get(at + 1..)?;
    let end = line.iter().position(|byte| *byte == b'\r')?;
    let text = std::str::from_utf8(&line[..end]).ok()?;
    Some((text.parse().ok()?, at + end + 3))
}
