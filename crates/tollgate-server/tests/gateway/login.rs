//! The login example, whole, through real sockets: what its comments promise.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::harness::{Connection, Gate, Raw, request, until};

const EXAMPLE: &str = include_str!("../../../../examples/login.yaml");

/// The service that knows the accounts: `right` is everybody's password. A login with `slow` is answered once the test says.
struct Accounts {
    service: Raw,
    asked: Arc<AtomicUsize>,
    answering: Arc<AtomicBool>,
}

impl Accounts {
    fn start() -> Accounts {
        let (asked, answering) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, slow) = (Arc::clone(&asked), Arc::clone(&answering));
        let service = Raw::start(move |stream, _| {
            while let Some(login) = login(stream) {
                count.fetch_add(1, Ordering::SeqCst);
                if login.contains("slow") {
                    until("it may be answered", || slow.load(Ordering::SeqCst));
                }
                let status = match login {
                    login if login.contains("right") => "200 OK",
                    login if login.contains("locked") => "403 Forbidden",
                    _ => "401 Unauthorized",
                };
                let _ = write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
            }
        });
        Accounts { service, asked, answering }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// A gateway with the example's policy before the service, behind a proxy pool that the test plays.
    fn gate(&self) -> Gate {
        let yaml = EXAMPLE.replace("127.0.0.1:9001", &self.service.address.to_string());
        Gate::start(&format!("client_address: {{ trusted_proxies: [\"127.0.0.0/8\"] }}\n{yaml}"))
    }
}

/// Reads one login's body.
fn login(stream: &mut TcpStream) -> Option<String> {
    let head = Raw::head(stream)?.to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1)?.split('\r').next()?.parse().ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    String::from_utf8(body).ok()
}

/// What an attacker's or a user's client sends.
struct Login<'a> {
    from: &'a str,
    kind: &'a str,
    body: String,
}

fn json<'a>(from: &'a str, account: &str, password: &str) -> Login<'a> {
    let body = format!(r#"{{"username":"{account}","password":"{password}"}}"#);
    Login { from, kind: "application/json", body }
}

fn form<'a>(from: &'a str, account: &str, password: &str) -> Login<'a> {
    let escaped: String = account.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let body = format!("password={password}&username={escaped}");
    Login { from, kind: "application/x-www-form-urlencoded", body }
}

impl Login<'_> {
    /// The answer's status.
    fn ask(&self, gate: SocketAddr) -> u16 {
        let mut connection = Connection::open(gate);
        self.send(&mut connection);
        connection.reply().status
    }

    fn send(&self, connection: &mut Connection) {
        let length = self.body.len().to_string();
        let fields = [
            ("x-forwarded-for", self.from),
            ("content-type", self.kind),
            ("content-length", &length),
        ];
        connection.send(request("POST", "/login", &fields));
        connection.send(&self.body);
    }
}

#[test]
fn a_rotating_proxy_pool_is_stopped_by_the_account() {
    let accounts = Accounts::start();
    let gate = accounts.gate();
    let guess = |host| json(&format!("198.51.100.{host}"), "ada", "wrong").ask(gate.address);
    let statuses: Vec<u16> = (0..40).map(guess).collect();
    assert_eq!(statuses, [[401; 5].as_slice(), &[429; 35]].concat());
    assert_eq!(accounts.asked(), 5, "what is refused never comes to the service");
    assert_eq!(json("203.0.113.1", "bob", "right").ask(gate.address), 200, "others log in");
}

#[test]
fn every_spelling_of_an_account_is_that_account() {
    let accounts = Accounts::start();
    let gate = accounts.gate();
    let spellings = ["josé", "JOSÉ", "jose\u{301}", "ＪＯＳＥ\u{301}", "Jos\\u00e9"];
    for (host, account) in spellings.iter().enumerate() {
        let from = format!("198.51.100.{host}");
        assert_eq!(json(&from, account, "wrong").ask(gate.address), 401, "{account}");
    }
    assert_eq!(json("203.0.113.1", "josé", "wrong").ask(gate.address), 429);
    assert_eq!(form("203.0.113.3", "JOSÉ", "wrong").ask(gate.address), 429, "a form, too");
    assert_eq!(json("203.0.113.2", "jose", "wrong").ask(gate.address), 401, "another account");
}

#[test]
fn a_machine_that_tries_many_accounts_is_stopped_by_its_address() {
    let accounts = Accounts::start();
    let gate = accounts.gate();
    let guess = |n: usize| {
        let account = format!("account-{n}");
        let login = if n.is_multiple_of(2) { json } else { form };
        login("203.0.113.9", &account, "wrong").ask(gate.address)
    };
    let statuses: Vec<u16> = (0..12).map(guess).collect();
    assert_eq!(statuses, [[401; 10].as_slice(), &[429; 2]].concat());
}

#[test]
fn a_success_gives_its_charge_back() {
    let accounts = Accounts::start();
    let gate = accounts.gate();
    for _ in 0..20 {
        assert_eq!(json("203.0.113.9", "ada", "right").ask(gate.address), 200);
    }
    for _ in 0..5 {
        assert_eq!(json("203.0.113.9", "ada", "locked").ask(gate.address), 403);
    }
    assert_eq!(json("203.0.113.9", "ada", "right").ask(gate.address), 429, "failures count");
}

/// Charged before the answer is known: as many guesses at once as there are failures left, and no more.
#[test]
fn parallel_guesses_cannot_slip_through() {
    let accounts = Accounts::start();
    let gate = accounts.gate();
    let mut guesses: Vec<Connection> = (0..20).map(|_| Connection::open(gate.address)).collect();
    for (host, guess) in guesses.iter_mut().enumerate() {
        json(&format!("198.51.100.{host}"), "ada", "slow").send(guess);
    }
    until("those are there that may be", || accounts.asked() == 5);
    let refused = || gate.metric("tollgate_answers_total{status=\"429\"}") == 15.0;
    until("the others are refused before any guess is answered", refused);
    accounts.answering.store(true, Ordering::SeqCst);
    let mut statuses: Vec<u16> = guesses.iter_mut().map(|guess| guess.reply().status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [[401; 5].as_slice(), &[429; 15]].concat());
    assert_eq!(accounts.asked(), 5);
}

#[test]
fn a_login_that_names_nobody_is_refused() {
    let accounts = Accounts::start();
    let gate = accounts.gate();
    for (kind, body) in [
        ("application/json", r#"{"username":"ada","username":"bob","password":"right"}"#),
        ("application/json", r#"{"username":"ada","Username":"bob","password":"right"}"#),
        ("application/json", r#"{"username":{"$ne":null},"password":"right"}"#),
        ("application/json", "{"),
        ("application/x-www-form-urlencoded", "username=ada&username=bob&password=right"),
        ("multipart/form-data; boundary=b", "--b--\r\n"),
    ] {
        let login = Login { from: "203.0.113.9", kind, body: body.to_owned() };
        assert_eq!(login.ask(gate.address), 400, "{kind} {body}");
    }
    assert_eq!(accounts.asked(), 0);
}
