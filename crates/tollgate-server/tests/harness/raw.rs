//! A service that answers every connection by a script of its own: for what no proper server would say.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A scripted service, until it is dropped.
pub(crate) struct Raw {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
}

impl Raw {
    /// Runs `script` with each connection and its number, each on a thread of its own.
    pub(crate) fn start(script: impl Fn(&mut TcpStream, usize) + Send + Sync + 'static) -> Raw {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (connections, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (script, count, end) = (Arc::new(script), Arc::clone(&connections), Arc::clone(&over));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if end.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(mut stream) = stream else { continue };
                let number = count.fetch_add(1, Ordering::Relaxed);
                let script = Arc::clone(&script);
                std::thread::spawn(move || script(&mut stream, number));
            }
        });
        Raw { address, connections, over }
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Reads one request's head.
    pub(crate) fn head(stream: &TcpStream) -> Option<String> {
        let mut reader = BufReader::with_capacity(1, stream);
        let mut head = String::new();
        loop {
            match reader.read_line(&mut head) {
                Ok(1..) if head.ends_with("\r\n\r\n") => return Some(head),
                Ok(1..) => {}
                Ok(0) | Err(_) => return None,
            }
        }
    }

    /// Answers a request with `body`.
    pub(crate) fn answer(stream: &mut TcpStream, body: &str) {
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let _ = stream.write_all(answer.as_bytes());
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
    }
}
