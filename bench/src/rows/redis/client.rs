//! The plain client that asks for both: whole batches in one write, and their answers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use super::recorder::number;

/// One connection.
pub struct Client {
    stream: TcpStream,
    answers: Vec<u8>,
}

impl Client {
    /// Connects.
    pub fn new(server: SocketAddr) -> Client {
        let stream = TcpStream::connect(server).expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        Client { stream, answers: Vec::new() }
    }

    /// Sends `calls` from `first` on, over and over, `count` of them and `depth` at a time.
    pub fn ask(&mut self, calls: &[Vec<u8>], first: usize, count: usize, depth: usize) {
        for batch in (first..first + count).step_by(depth) {
            let mut bytes = Vec::new();
            (batch..batch + depth).for_each(|call| bytes.extend(&calls[call % calls.len()]));
            self.stream.write_all(&bytes).expect("a call");
            self.hear(depth);
        }
    }

    /// Reads so many answers.
    fn hear(&mut self, mut missing: usize) {
        self.answers.clear();
        let mut at = 0;
        while missing > 0 {
            match answer_end(&self.answers, at) {
                Some(end) => (at, missing) = (end, missing - 1),
                None => {
                    let mut buffer = [0; 65_536];
                    let length = self.stream.read(&mut buffer).expect("an answer");
                    assert!(length > 0, "the server has gone");
                    self.answers.extend_from_slice(&buffer[..length]);
                }
            }
        }
    }
}

/// Where the answer that begins at `at` ends; `None` where it is not all there.
fn answer_end(bytes: &[u8], at: usize) -> Option<usize> {
    let kind = *bytes.get(at)?;
    assert!(kind != b'-', "{}", String::from_utf8_lossy(&bytes[at..]));
    let (value, begin) = number(bytes, at)?;
    let end = match kind {
        b'$' => begin + value + 2,
        b'*' => return (0..value).try_fold(begin, |at, _| answer_end(bytes, at)),
        _ => begin,
    };
    (end <= bytes.len()).then_some(end)
}
