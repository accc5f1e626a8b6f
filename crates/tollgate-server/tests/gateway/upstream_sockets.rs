//! Where servers are: Unix sockets, and names.

use std::net::SocketAddr;

use socket2::{Domain, Socket, Type};

use crate::harness::{Connection, Gate, Speech, Upstream, until};
use crate::policies::{of_server, pool, pool_with};

#[test]
fn a_unix_socket_is_a_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("app.sock");
    let upstream = Upstream::speaking(Speech { unix: Some(path.clone()), ..Speech::default() });
    until("it listens", || path.exists());
    let address = format!("unix:{}", path.display());
    let gate = Gate::start(&pool(&[&address], ""));
    let mut connection = Connection::open(gate.address);
    for _ in 0..10 {
        assert_eq!(connection.get("/a").status, 200);
    }
    assert_eq!(upstream.last().header("host"), Some("test"));
    assert!(upstream.connections() <= 2, "connections are kept");
    assert_eq!(gate.metric(&of_server("responses_total", &address, ",status=\"2xx\"")), 10.0);
}

#[test]
fn a_unix_socket_that_is_not_there_is_a_bad_gateway() {
    let gate = Gate::start(&pool(&[&"unix:/nowhere/app.sock"], ""));
    assert_eq!(Connection::open(gate.address).get("/").status, 502);
}

#[test]
fn a_name_is_looked_up_and_its_addresses_are_servers() {
    let upstream = Upstream::start();
    let name = format!("localhost:{}", upstream.address.port());
    let gate = Gate::start(&pool(&[&name], ""));
    let mut connection = Connection::open(gate.address);
    for _ in 0..10 {
        // It listens at one of the addresses only: the others take no connection.
        assert_eq!(connection.get("/").status, 200);
    }
    assert_eq!(upstream.seen().len(), 10);
    until("it is counted", || gate.metric(&of_server("addresses", &name, "")) >= 1.0);
    assert!(gate.metric(&of_server("look_ups_total", &name, ",result=\"ok\"")) >= 1.0);
    until("it is used", || gate.metric(&of_server("healthy", &name, "")) >= 1.0);
}

#[test]
fn a_name_that_nobody_knows_is_a_bad_gateway_and_no_other_server_suffers() {
    let name = "nobody.invalid:80";
    let gate = Gate::start(&pool(&[&name], ""));
    let mut connection = Connection::open(gate.address);
    let unknown = connection.get("/");
    assert_eq!(unknown.status, 502);
    assert!(unknown.text().contains("no known address"), "{}", unknown.text());
    assert!(gate.metric(&of_server("look_ups_total", name, ",result=\"failed\"")) >= 1.0);

    let upstream = Upstream::start();
    gate.reload(&pool(&[&name, &upstream.address], ""));
    for _ in 0..10 {
        assert_eq!(connection.get("/").status, 200);
    }
}

#[test]
fn a_name_keeps_its_addresses_over_a_reload() {
    let upstream = Upstream::start();
    let name = format!("localhost:{}", upstream.address.port());
    let gate = Gate::start(&pool(&[&name], ""));
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.get("/").status, 200);
    let connections = upstream.connections();
    gate.reload(&pool(&[&name], ", retries: { on: [503] }"));
    for _ in 0..10 {
        assert_eq!(connection.get("/").status, 200);
    }
    assert_eq!(upstream.connections(), connections, "the kept connection serves on");
}

#[test]
fn servers_get_requests_by_their_weight() {
    let (large, small) = (Upstream::start(), Upstream::start());
    let yaml = format!(
        "upstreams: {{ app: {{ servers: [{{ address: \"{}\", weight: 3 }}, \"{}\"] }} }}\n\
         routes:\n- {{ match: {{ path: /** }}, limits: [], upstream: app }}\n",
        large.address, small.address
    );
    let gate = Gate::start(&yaml);
    let mut connection = Connection::open(gate.address);
    for _ in 0..40 {
        assert_eq!(connection.get("/").status, 200);
    }
    assert_eq!((large.seen().len(), small.seen().len()), (30, 10));
}

#[test]
fn a_server_that_does_not_take_connections_in_time_is_passed_over() {
    // Its queue of connections is full and nobody takes them out of it.
    let socket = || Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    let deaf = socket();
    deaf.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).expect("a free port");
    deaf.listen(1).expect("a listener");
    let address = deaf.local_addr().expect("an address").as_socket().expect("an address");
    let fills: Vec<Socket> = (0..8)
        .map(|_| {
            let fill = socket();
            fill.set_nonblocking(true).expect("a socket");
            // It is on its way, or waits in the queue.
            let _ = fill.connect(&address.into());
            fill
        })
        .collect();
    let upstream = Upstream::start();
    let gate = Gate::start(&pool_with(
        &[&address, &upstream.address],
        ", connect_timeout: 200ms, ejection: { failures: 1, first: 1m }",
        "",
    ));
    let mut connection = Connection::open(gate.address);
    for _ in 0..10 {
        assert_eq!(connection.get("/").status, 200);
    }
    let failed = gate.metric(&of_server("errors_total", address, ",error=\"connect\""));
    assert!(failed <= 1.0, "{failed} waits in vain; the first leaves it out");
    drop(fills);
}
