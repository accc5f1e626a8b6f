//! A client that says exactly what it is told to, byte by byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use super::PATIENCE;

/// A connection.
pub(crate) struct Connection {
    reader: BufReader<TcpStream>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) version: String,
    pub(crate) status: u16,
    /// In order; names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) trailers: Vec<(String, String)>,
}

impl Reply {
    /// The field called `name`; several lines are joined.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let lines: Vec<&str> = self
            .headers
            .iter()
            .filter(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
            .collect();
        (!lines.is_empty()).then(|| lines.join(", "))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A request for `path`, as text.
pub(crate) fn request(method: &str, path: &str, fields: &[(&str, &str)]) -> String {
    let fields: String =
        fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("{method} {path} HTTP/1.1\r\nhost: test\r\n{fields}\r\n")
}

/// Asks for `path` over a connection of its own.
#[track_caller]
pub(crate) fn get(address: SocketAddr, path: &str) -> Reply {
    let mut connection = Connection::open(address);
    connection.get(path)
}

impl Connection {
    #[track_caller]
    pub(crate) fn open(address: SocketAddr) -> Connection {
        let stream = TcpStream::connect_timeout(&address, PATIENCE).expect("it takes connections");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        stream.set_write_timeout(Some(PATIENCE)).expect("a time-out");
        stream.set_nodelay(true).expect("no delay");
        Connection { reader: BufReader::new(stream) }
    }

    #[track_caller]
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.reader.get_mut().write_all(bytes.as_ref()).expect("it takes what is sent");
    }

    /// Sends what a peer may not take any more.
    pub(crate) fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
        self.reader.get_mut().write_all(bytes.as_ref())
    }

    /// Asks for `path` and reads the answer.
    #[track_caller]
    pub(crate) fn get(&mut self, path: &str) -> Reply {
        self.ask("GET", path, &[])
    }

    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, path: &str, fields: &[(&str, &str)]) -> Reply {
        self.send(request(method, path, fields));
        self.reply_to(method)
    }

    /// Reads an answer to a request that is not HEAD.
    #[track_caller]
    pub(crate) fn reply(&mut self) -> Reply {
        self.reply_to("GET")
    }

    #[track_caller]
    pub(crate) fn reply_to(&mut self, method: &str) -> Reply {
        let mut reply = self.head();
        let bare = method == "HEAD" || reply.status < 200 || matches!(reply.status, 204 | 304);
        if bare {
            return reply;
        }
        if reply.header("transfer-encoding").is_some_and(|coding| coding == "chunked") {
            self.chunks(&mut reply);
        } else if let Some(length) = reply.header("content-length") {
            let mut body = vec![0; length.parse().expect("a length")];
            self.reader.read_exact(&mut body).expect("the whole body");
            reply.body = body;
        } else {
            self.reader.read_to_end(&mut reply.body).expect("the whole body");
        }
        reply
    }

    /// Reads the head of an answer.
    #[track_caller]
    pub(crate) fn head(&mut self) -> Reply {
        let line = self.line();
        let mut words = line.split(' ');
        let version = words.next().unwrap_or_default().to_owned();
        let status = words.next().and_then(|code| code.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no status line"));
        Reply { version, status, headers: self.fields(), body: Vec::new(), trailers: Vec::new() }
    }

    fn chunks(&mut self, reply: &mut Reply) {
        loop {
            let size = self.line();
            let size = usize::from_str_radix(size.trim(), 16).expect("a chunk's size");
            if size == 0 {
                reply.trailers = self.fields();
                return;
            }
            let before = reply.body.len();
            reply.body.resize(before + size, 0);
            self.reader.read_exact(&mut reply.body[before..]).expect("the whole chunk");
            assert_eq!(self.line(), "", "a line end after the chunk");
        }
    }

    fn fields(&mut self) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(':') else { return fields };
            fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    #[track_caller]
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("a line");
        assert!(!line.is_empty(), "the connection was closed instead of a line");
        line.trim_end_matches(['\r', '\n']).to_owned()
    }

    /// Reads up to `length` bytes of what comes; 0 where it was closed.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> usize {
        self.reader.read(buffer).unwrap_or(0)
    }

    /// Whether nothing more comes and the peer has closed its side.
    pub(crate) fn is_closed(&mut self) -> bool {
        let mut rest = Vec::new();
        // A reset is an end, too.
        let _ = self.reader.read_to_end(&mut rest);
        rest.is_empty()
    }

    /// Says that nothing more will be sent.
    pub(crate) fn finish(&mut self) {
        let _ = self.reader.get_ref().shutdown(Shutdown::Write);
    }
}
