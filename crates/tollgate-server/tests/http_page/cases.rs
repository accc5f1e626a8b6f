//! Every answer of the gateway's own, and how to come by it.

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use tollgate_core::Timestamp;
use tollgate_store::ManualClock;

use crate::curl;
use crate::harness::{Connection, Gate, Raw, Setup, Upstream, request, until};

/// An answer.
pub(crate) struct Case {
    pub(crate) status: u16,
    pub(crate) title: &'static str,
    /// When it is given.
    pub(crate) says: &'static str,
    /// What of the policy brings it about.
    pub(crate) policy: &'static str,
    /// What is said of the pool, beside its servers.
    pub(crate) pool: &'static str,
    behind: Behind,
    before: Before,
    words: &'static [&'static str],
}

/// What stands behind the gateway.
#[derive(Clone, Copy)]
enum Behind {
    /// A service that answers as it is asked to.
    Service,
    /// Nothing that takes a connection.
    Nothing,
    /// A service that answers with these bytes.
    Bytes(&'static str),
}

/// What happens before curl asks.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    /// So many requests pass, each over its own connection.
    Asked(usize),
    /// Another connection is open, with a request under way.
    Held,
}

const SERVICE: Case = Case {
    status: 200,
    title: "",
    says: "",
    policy: "",
    pool: "",
    behind: Behind::Service,
    before: Before::Nothing,
    words: &["http://api.example/v1/reports"],
};

const LIMIT: &str = "limits:\n  per-user: { key: [ip], sliding_window: { limit: 3, window: 1m } }\n\
routes:\n  - { match: /v1/**, limits: [per-user] }";

pub(crate) const CASES: &[Case] = &[
    Case {
        title: "within the limits",
        says: "The upstream's answer; the fields say what is left. `headers:` in the policy chooses their families.",
        policy: LIMIT,
        ..SERVICE
    },
    Case {
        title: "early hints before the answer",
        says: "An upstream's interim answers (1xx, but for 100 and 101) are passed on where its pool says so, from HTTP/1.1 to HTTP/1.1: \
clients of HTTP/1.0 and HTTP/2 get the answer alone, and so does whoever asks a server of HTTP/2. At most 16 for a request, of 16 KiB \
together; `tollgate_interim_answers_total{result=\"passed\"|\"dropped\"}` counts them.",
        pool: "early_hints: true",
        behind: Behind::Bytes(
            "HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        ),
        ..SERVICE
    },
    Case {
        status: 429,
        title: "over a limit",
        says: "The limit that refused, and when to come back: with no other traffic the same request passes then.",
        policy: LIMIT,
        before: Before::Asked(3),
        ..SERVICE
    },
    Case {
        status: 429,
        title: "more than a limit ever admits",
        says: "No time is named: waiting does not help.",
        policy: "limits:\n  per-user: { key: [ip], sliding_window: { limit: 3, window: 1m } }\n\
routes:\n  - { match: /v1/**, limits: [per-user], cost: 5 }",
        ..SERVICE
    },
    Case {
        status: 503,
        title: "over a limit that is nobody's own fault",
        says: "A limit for everybody may say so: `refusal: { status: 503 }`.",
        policy: "limits:\n  cluster:\n    key: []\n    sliding_window: { limit: 3, window: 1m }\n    \
refusal: { status: 503, title: Busy, detail: The service is at its limit. }\nroutes:\n  - { match: /v1/**, limits: [cluster] }",
        before: Before::Asked(3),
        ..SERVICE
    },
    Case {
        status: 503,
        title: "no room to wait",
        says: "A limit would have let it wait, but `gateway: max_waiting` do already.",
        policy: "gateway: { max_waiting: 0 }\nlimits:\n  smooth: { key: [], leaky_bucket: { rate: 1/s, burst: 9 } }\n\
routes:\n  - { match: /v1/**, limits: [smooth] }",
        before: Before::Asked(1),
        ..SERVICE
    },
    Case {
        status: 503,
        title: "no room for a connection",
        says: "`gateway: max_connections` are open. The answer comes before anything is read.",
        policy: "gateway: { max_connections: 1 }",
        before: Before::Held,
        ..SERVICE
    },
    Case {
        status: 400,
        title: "nobody is named",
        says: "A limit with `missing: reject` found no identity.",
        policy: "identity:\n  account: { json: /username }\nlimits:\n  per-account: { key: [account], missing: reject, \
sliding_window: { limit: 3, window: 1m } }\nroutes:\n  - { match: /v1/**, limits: [per-account] }",
        words: &["http://api.example/v1/login", "--json", "{\"user\":\"ada\"}"],
        ..SERVICE
    },
    Case {
        status: 400,
        title: "a path that two readers could read differently",
        says: "`%2F`, `%5C`, a NUL, a backslash or a broken escape.",
        words: &["http://api.example/v1%2Freports"],
        ..SERVICE
    },
    Case {
        status: 400,
        title: "a host that is none",
        says: "No `Host`, several, or one that is no host with or without a port.",
        words: &["http://api.example/v1/reports", "-H", "Host: a/b"],
        ..SERVICE
    },
    Case {
        status: 400,
        title: "no request of HTTP/1.1",
        says: "Lengths that contradict each other, folded fields, control characters: whatever could be read in two ways. The \
connection ends.",
        words: &[
            "http://api.example/v1/reports",
            "-H",
            "Content-Length: 1",
            "-H",
            "Content-Length: 2",
            "-d",
            "x",
        ],
        ..SERVICE
    },
    Case {
        status: 404,
        title: "no route",
        says: "No route matches.",
        policy: "routes:\n  - { match: /v1/**, limits: [] }",
        words: &["http://api.example/v2/reports"],
        ..SERVICE
    },
    Case {
        status: 405,
        title: "CONNECT",
        says: "The gateway is no way to other places.",
        words: &[
            "http://api.example/",
            "-X",
            "CONNECT",
            "--request-target",
            "elsewhere.example:443",
        ],
        ..SERVICE
    },
    Case {
        status: 408,
        title: "a body that does not come",
        says: "Nothing of it came for `gateway: body_timeout`. A header that is not whole within `header_timeout` gets a 408, too.",
        policy: "gateway: { body_timeout: 300ms }",
        words: &["http://api.example/v1/reports", "-H", "Content-Length: 10", "-d", "x"],
        ..SERVICE
    },
    Case {
        status: 413,
        title: "a body that is too large",
        says: "Larger than `max_body_bytes`. Where the length is stated nothing of it is read.",
        policy: "gateway: { max_body_bytes: 10 }",
        words: &["http://api.example/v1/reports", "-d", "more than ten bytes"],
        ..SERVICE
    },
    Case {
        status: 431,
        title: "header fields that are too large",
        says: "More than `gateway: max_header_bytes` together, or more fields than `max_headers`.",
        policy: "gateway: { max_header_bytes: 8192 }",
        words: &["http://api.example/v1/reports", "-H", LONG_FIELD],
        ..SERVICE
    },
    Case {
        status: 501,
        title: "a body in a coding that cannot be undone",
        says: "Only `chunked` can be.",
        words: &[
            "http://api.example/v1/reports",
            "-H",
            "Transfer-Encoding: gzip, chunked",
            "-d",
            "x",
        ],
        ..SERVICE
    },
    Case {
        status: 502,
        title: "a service that takes no connection",
        says: "No server of the pool did.",
        behind: Behind::Nothing,
        ..SERVICE
    },
    Case {
        status: 502,
        title: "a service that breaks off",
        says: "It ended the connection before it answered, or what it said is no HTTP.",
        behind: Behind::Bytes("nonsense\r\n\r\n"),
        ..SERVICE
    },
    Case {
        status: 504,
        title: "a service that is too slow",
        says: "Its answer did not begin within `gateway: first_byte_timeout`.",
        policy: "gateway: { first_byte_timeout: 300ms }",
        words: &["http://api.example/hold"],
        ..SERVICE
    },
];

/// A field of 9,000 letters.
const LONG_FIELD: &str = {
    const TEXT: [u8; 9_008] = {
        let mut text = [b'a'; 9_008];
        let name = *b"X-Long: ";
        let mut place = 0;
        while place < name.len() {
            text[place] = name[place];
            place += 1;
        }
        text
    };
    match std::str::from_utf8(&TEXT) {
        Ok(text) => text,
        Err(_) => "",
    }
};

impl Case {
    /// What curl shows, and the status of the last answer.
    pub(crate) fn show(&self) -> (String, u16) {
        let upstream = Upstream::start();
        let raw = match self.behind {
            Behind::Bytes(bytes) => Some(Raw::start(move |stream, _| {
                if Raw::head(stream).is_some() {
                    let _ = stream.write_all(bytes.as_bytes());
                }
            })),
            Behind::Service | Behind::Nothing => None,
        };
        let address = match (&raw, self.behind) {
            (Some(raw), _) => raw.address,
            (None, Behind::Nothing) => closed(),
            (None, _) => upstream.address,
        };
        let gate = self.gate(address);
        let _held = self.prepare(&gate, &upstream);
        let shown = curl::show(self.words, gate.address);
        upstream.let_go();
        shown
    }

    fn gate(&self, address: SocketAddr) -> Gate {
        let routes = if self.policy.contains("routes:") {
            ""
        } else {
            "routes:\n  - { match: /**, limits: [] }\n"
        };
        let more = if self.pool.is_empty() { String::new() } else { format!(", {}", self.pool) };
        let pool = format!(
            "listen: 127.0.0.1:8080\nupstreams: {{ app: {{ servers: [\"{address}\"]{more} }} }}"
        );
        // 2026-01-01T00:00:00Z, and it stays so: what is left and when it is more are the same in every run.
        let clock = Arc::new(ManualClock::new(Timestamp::from_micros(1_767_225_600_000_000)));
        Gate::with(
            &format!("{pool}\n{}\n{routes}", self.policy),
            Setup { clock, ..Setup::default() },
        )
    }

    fn prepare(&self, gate: &Gate, upstream: &Upstream) -> Option<Connection> {
        match self.before {
            Before::Nothing => None,
            Before::Asked(times) => {
                for _ in 0..times {
                    let passed = Connection::open(gate.address).get("/v1/reports");
                    assert_eq!(passed.status, 200, "{}", self.title);
                }
                None
            }
            Before::Held => {
                let mut connection = Connection::open(gate.address);
                connection.send(request("GET", "/hold", &[]));
                until("it is held", || upstream.begun() == 1);
                Some(connection)
            }
        }
    }
}

/// An address where nobody listens.
fn closed() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address")
}
