//! What the upstream is told of the client and of the gateway.

use crate::harness::{Connection, Gate, Seen, Upstream};

const SAID: [(&str, &str); 5] = [
    ("x-forwarded-for", "192.0.2.1, 192.0.2.2"),
    ("x-forwarded-proto", "https"),
    ("x-forwarded-host", "a.example"),
    ("forwarded", "for=192.0.2.1"),
    ("via", "1.1 edge"),
];

/// What comes through when a peer says all that, under `client_address`.
fn told(client_address: &str) -> Seen {
    let upstream = Upstream::start();
    let more = format!("client_address: {{ {client_address} }}");
    let gate = Gate::start(&crate::policies::open_with(upstream.address, &more));
    assert_eq!(Connection::open(gate.address).ask("GET", "/", &SAID).status, 200);
    upstream.last()
}

fn fields(seen: &Seen, names: [&str; 4]) -> [Option<String>; 4] {
    names.map(|name| {
        let lines = seen.headers.get_all(name).iter();
        let lines: Vec<&str> = lines.map(|line| line.to_str().expect("text")).collect();
        (!lines.is_empty()).then(|| lines.join(", "))
    })
}

const NAMES: [&str; 4] = ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "forwarded"];

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn a_strangers_word_is_replaced_in_every_field() {
    let seen = told("forwarding: { fields: [x-forwarded, forwarded, via] }");
    let forwarded = some("for=127.0.0.1;proto=http;host=\"test\"");
    let wanted = [some("127.0.0.1"), some("http"), some("test"), forwarded];
    assert_eq!(fields(&seen, NAMES), wanted);
    let via = fields(&seen, ["via"; 4]);
    assert_eq!(via[0].as_deref(), Some("1.1 edge, 1.1 tollgate"), "proxies are not clients");
}

#[test]
fn a_trusted_proxys_word_is_carried_on() {
    let seen =
        told("trusted_proxies: [127.0.0.0/8], forwarding: { fields: [x-forwarded, forwarded] }");
    let forwarded = some("for=192.0.2.1, for=127.0.0.1;proto=http;host=\"test\"");
    let hops = some("192.0.2.1, 192.0.2.2, 127.0.0.1");
    assert_eq!(fields(&seen, NAMES), [hops, some("https"), some("a.example"), forwarded]);
    assert_eq!(seen.header("via"), Some("1.1 edge"), "the gateway does not name itself");
}

#[test]
fn a_chain_can_be_replaced_by_the_client() {
    let seen = told(
        "trusted_proxies: [127.0.0.0/8], forwarding: { fields: [x-forwarded], chain: replace }",
    );
    assert_eq!(fields(&seen, NAMES), [some("192.0.2.2"), some("http"), some("test"), None]);
}

#[test]
fn fields_that_are_not_written_are_believed_of_nobody_else() {
    assert_eq!(fields(&told("forwarding: { fields: [] }"), NAMES), [None, None, None, None]);
    let trusted = told("trusted_proxies: [127.0.0.0/8], forwarding: { fields: [] }");
    let said = SAID.map(|(_, value)| some(value));
    assert_eq!(fields(&trusted, NAMES).as_slice(), &said[..4]);
}
