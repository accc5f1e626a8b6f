//! A service that records what reaches it, read as strictly as can be: whoever passes on what two readers could read
//! differently is found out here.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use parking_lot::Mutex;

use crate::harness::Raw;

/// A request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Forwarded {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) host: Option<String>,
    /// What is neither framing nor the proxies' own, sorted.
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The body did not come whole.
    pub(crate) cut: bool,
}

/// The service. The exchange that a request belongs to is in its `x-exchange` field.
pub(crate) struct Recorder {
    service: Raw,
    records: Receiver<Result<Forwarded, String>>,
}

/// Fields that each proxy writes in its own way.
const THEIR_OWN: [&str; 16] = [
    "connection",
    "content-length",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "te",
    "traceparent",
    "tracestate",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-request-id",
];

impl Recorder {
    pub(crate) fn start() -> Recorder {
        let (sender, records) = channel();
        let sender: Arc<Mutex<Sender<_>>> = Arc::new(Mutex::new(sender));
        let service = Raw::start(move |stream, _| {
            let mut reader = BufReader::new(&*stream);
            let record = match head(&mut reader) {
                Ok(None) => return,
                Ok(Some(head)) => head.and_body(&mut reader),
                Err(problem) => Err(problem),
            };
            let _ = sender.lock().send(record);
            let mut stream = stream;
            let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok";
            let _ = Write::write_all(&mut stream, answer.as_bytes());
        });
        Recorder { service, records }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.service.address
    }

    /// What came since it was last asked.
    pub(crate) fn records(&self) -> Vec<Result<Forwarded, String>> {
        self.records.try_iter().collect()
    }
}

/// A head, and how its body is framed.
struct Head {
    request: Forwarded,
    framing: Framing,
}

enum Framing {
    Length(usize),
    Chunked,
}

/// Reads a head. `None` where the peer sent none.
fn head(reader: &mut impl BufRead) -> Result<Option<Head>, String> {
    let Some(line) = line(reader)? else { return Ok(None) };
    let words: Vec<&str> = line.split(' ').collect();
    let &[method, target, "HTTP/1.1"] = words.as_slice() else {
        return Err(format!("no request line: {line:?}"));
    };
    let (method, target) = (method.to_owned(), target.to_owned());
    let mut fields = Vec::new();
    loop {
        let Some(line) = self::line(reader)? else { return Err("the head broke off".to_owned()) };
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(|| format!("no field: {line:?}"))?;
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if name.is_empty()
            || !name.bytes().all(token)
            || value.bytes().any(|byte| byte < b' ' && byte != b'\t')
        {
            return Err(format!("no field: {line:?}"));
        }
        fields.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Head::new(method, target, fields).map(Some)
}

impl Head {
    fn new(
        method: String,
        target: String,
        mut fields: Vec<(String, String)>,
    ) -> Result<Head, String> {
        let values = |name: &str| -> Vec<String> {
            fields
                .iter()
                .filter(|(known, _)| known == name)
                .map(|(_, value)| value.clone())
                .collect()
        };
        let (lengths, codings) = (values("content-length"), values("transfer-encoding"));
        let framing = match (lengths.as_slice(), codings.as_slice()) {
            ([], []) => Framing::Length(0),
            ([length], []) if length.bytes().all(|byte| byte.is_ascii_digit()) => {
                Framing::Length(length.parse().map_err(|_| format!("no length: {length:?}"))?)
            }
            ([], [coding]) if coding == "chunked" => Framing::Chunked,
            _ => return Err(format!("framed in several ways: {lengths:?} {codings:?}")),
        };
        let hosts = values("host");
        let [host] = hosts.as_slice() else { return Err(format!("hosts: {hosts:?}")) };
        let host = Some(host.clone()).filter(|host| !host.is_empty());
        fields.retain(|(name, _)| !THEIR_OWN.contains(&name.as_str()));
        fields.sort();
        let request = Forwarded { method, target, host, fields, body: Vec::new(), cut: false };
        Ok(Head { request, framing })
    }

    fn and_body(mut self, reader: &mut BufReader<&TcpStream>) -> Result<Forwarded, String> {
        let request = &mut self.request;
        match self.framing {
            Framing::Length(length) => {
                let read = reader.take(length as u64).read_to_end(&mut request.body);
                request.cut = read.is_err() || request.body.len() < length;
            }
            Framing::Chunked => request.cut = chunks(reader, &mut request.body)?,
        }
        if !request.cut {
            quiet(reader)?;
        }
        Ok(self.request)
    }
}

/// Reads chunks; answers whether they broke off.
fn chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> Result<bool, String> {
    loop {
        let Ok(Some(size)) = line(reader) else { return Ok(true) };
        let length = usize::from_str_radix(&size, 16).map_err(|_| format!("no chunk: {size:?}"))?;
        if length == 0 {
            // Trailers, and the empty line.
            while line(reader)?.is_some_and(|trailer| !trailer.is_empty()) {}
            return Ok(false);
        }
        let before = body.len();
        if reader.take(length as u64).read_to_end(body).is_err() || body.len() < before + length {
            return Ok(true);
        }
        match line(reader) {
            Ok(Some(end)) if end.is_empty() => {}
            Ok(Some(end)) => return Err(format!("a chunk ends in {end:?}")),
            Ok(None) | Err(_) => return Ok(true),
        }
    }
}

/// A second request must not hide behind the first: neither proxy pipelines.
fn quiet(reader: &mut BufReader<&TcpStream>) -> Result<(), String> {
    if !reader.buffer().is_empty() {
        return Err(format!("behind a request: {:?}", String::from_utf8_lossy(reader.buffer())));
    }
    let _ = reader.get_ref().set_read_timeout(Some(Duration::from_millis(1)));
    match reader.fill_buf() {
        Ok(rest) if !rest.is_empty() => {
            Err(format!("behind a request: {:?}", String::from_utf8_lossy(rest)))
        }
        _ => Ok(()),
    }
}

/// A line that ends in CRLF, without it; nothing else ends one. `None` where nothing came.
fn line(reader: &mut impl BufRead) -> Result<Option<String>, String> {
    let mut line = Vec::new();
    if !matches!(reader.read_until(b'\n', &mut line), Ok(1..)) {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&line).into_owned();
    match text.strip_suffix("\r\n") {
        Some(text) if !text.contains('\r') => Ok(Some(text.to_owned())),
        _ => Err(format!("no line: {text:?}")),
    }
}
