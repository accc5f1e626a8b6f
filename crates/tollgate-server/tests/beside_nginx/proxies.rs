//! Both proxies, and what comes of the same bytes at each.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use tollgate_policy::normalise;

use crate::harness::{Gate, Nginx, PATIENCE};
use crate::recorder::{Forwarded, Recorder};

/// Follows every input, so that both connections end; what is read as a body before it swallows it.
const LAST: &[u8] = b"GET /last HTTP/1.1\r\nHost: last\r\nConnection: close\r\n\r\n";

/// What came of some bytes at one proxy.
#[derive(Debug)]
pub(crate) struct Account {
    /// Of the final answers, in order.
    pub(crate) statuses: Vec<u16>,
    /// What of the input reached the service whole, with normal targets.
    pub(crate) forwarded: Vec<Forwarded>,
    /// What reached it and was no request.
    nonsense: Vec<String>,
    /// The answers could not be told apart.
    torn: bool,
}

impl Account {
    /// Every answer is the service's, and it understood all requests.
    pub(crate) fn refuses_nothing(&self) -> bool {
        let passed = self.statuses.iter().all(|status| *status == 200);
        passed && !self.statuses.is_empty() && self.nonsense.is_empty()
    }

    /// Where one request ends and the next begins.
    pub(crate) fn cut(&self) -> Vec<(&str, &[u8])> {
        self.forwarded.iter().map(|request| (&*request.method, &*request.body)).collect()
    }

    /// What no input may bring about.
    pub(crate) fn broken(&self) -> Option<String> {
        if let Some(nonsense) = self.nonsense.first() {
            return Some(format!("the service got no request: {nonsense}"));
        }
        if self.torn {
            return Some("the answers are no HTTP".to_owned());
        }
        let failed = self.statuses.iter().find(|status| matches!(status, 500 | 502 | 504));
        failed.map(|status| format!("a client's bytes are answered {status}"))
    }
}

/// One pair for each exchange that goes on at once: what was recorded at a pair belongs to its exchange.
pub(crate) struct Proxies(Vec<Pair>);

struct Pair {
    gate: Gate,
    nginx: Nginx,
    ours: Recorder,
    theirs: Recorder,
}

impl Proxies {
    /// `None` where nginx is not installed.
    pub(crate) fn start() -> Option<Proxies> {
        (0..crate::AT_ONCE).map(|_| Pair::start()).collect::<Option<_>>().map(Proxies)
    }

    /// What comes of each input at both: ours and theirs. As many inputs as there are pairs, at most.
    pub(crate) fn ask_all(&self, inputs: &[Vec<u8>]) -> Vec<(Account, Account)> {
        std::thread::scope(|scope| {
            let mut asked = Vec::new();
            for (input, pair) in inputs.iter().zip(&self.0) {
                let (ours, theirs) = (pair.gate.address, pair.nginx.address);
                let ours = scope.spawn(move || exchange(ours, input));
                asked.push((ours, scope.spawn(move || exchange(theirs, input)), pair));
            }
            let account = |answers: Vec<u8>, recorder: &Recorder| account(&answers, recorder);
            asked
                .into_iter()
                .map(|(ours, theirs, pair)| {
                    let (ours, theirs) =
                        (ours.join().expect("ours"), theirs.join().expect("theirs"));
                    (account(ours, &pair.ours), account(theirs, &pair.theirs))
                })
                .collect()
        })
    }
}

impl Pair {
    fn start() -> Option<Pair> {
        let (ours, theirs) = (Recorder::start(), Recorder::start());
        let nginx = Nginx::start(&format!(
            "underscores_in_headers on; client_header_timeout 1s; client_body_timeout 1s; \
             lingering_close off; keepalive_timeout 1s; merge_slashes on; \
             location / {{ proxy_pass http://{}; proxy_http_version 1.1; proxy_set_header Host $http_host; \
             proxy_request_buffering off; }}",
            theirs.address()
        ))?;
        let gate = Gate::start(&format!(
            "gateway: {{ header_timeout: 1s, body_timeout: 1s, idle_timeout: 1s }}\n\
             upstreams: {{ app: {{ servers: [\"{}\"] }} }}\n\
             routes:\n- {{ limits: [], upstream: app }}\n",
            ours.address()
        ));
        Some(Pair { gate, nginx, ours, theirs })
    }
}

/// Sends `input` and reads all that comes back.
fn exchange(address: SocketAddr, input: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).expect("it takes connections");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    stream.set_write_timeout(Some(Duration::from_secs(5))).expect("a time-out");
    // Whoever refuses may not read to the end.
    let _ = stream.write_all(&[input, LAST].concat());
    let mut answers = Vec::new();
    let _ = stream.read_to_end(&mut answers);
    answers
}

fn account(answers: &[u8], recorder: &Recorder) -> Account {
    let (statuses, torn) = statuses(answers);
    let mut account = Account { statuses, forwarded: Vec::new(), nonsense: Vec::new(), torn };
    for record in recorder.records() {
        match record {
            Ok(mut request) => {
                request.target = normal(&request.target);
                if !request.cut && request.target != "/last" {
                    account.forwarded.push(request);
                }
            }
            Err(nonsense) => account.nonsense.push(nonsense),
        }
    }
    account
}

/// nginx passes the path on as it came.
fn normal(target: &str) -> String {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = normalise(path).map_or_else(|_| path.to_owned(), |path| path.into_owned());
    if query.is_empty() { path } else { format!("{path}?{query}") }
}

/// The statuses of final answers, and whether anything else came.
fn statuses(mut rest: &[u8]) -> (Vec<u16>, bool) {
    let mut statuses = Vec::new();
    while !rest.is_empty() {
        let Some(end) = find(rest, b"\r\n\r\n") else { return (statuses, true) };
        let head = String::from_utf8_lossy(&rest[..end]).to_ascii_lowercase();
        rest = &rest[end + 4..];
        let status = head.strip_prefix("http/1.").and_then(|line| line.get(2..5)?.parse().ok());
        let Some(status) = status else { return (statuses, true) };
        if status < 200 {
            continue;
        }
        statuses.push(status);
        if head.contains("transfer-encoding: chunked") {
            let Some(end) = find(rest, b"0\r\n\r\n") else { return (statuses, true) };
            rest = &rest[end + 5..];
        } else if let Some(length) = head.split("content-length: ").nth(1) {
            let length =
                length.split('\r').next().and_then(|length| length.parse().ok()).unwrap_or(0);
            // None follows where HEAD was asked.
            if !rest.starts_with(b"HTTP/1.1 ") {
                rest = rest.get(length..).unwrap_or_default();
            }
        }
    }
    (statuses, false)
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
