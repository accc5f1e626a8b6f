//! Connections by address.

use crate::harness::{Connection, Gate, Upstream, until};
use crate::policies::{open, open_with};

#[test]
fn an_address_has_so_many_connections_and_no_more() {
    let upstream = Upstream::start();
    let gate =
        Gate::start(&open_with(upstream.address, "gateway: { max_connections_per_address: 2 }"));
    let mut first = Connection::open(gate.address);
    let mut second = Connection::open(gate.address);
    assert_eq!((first.get("/").status, second.get("/").status), (200, 200));
    let refused = Connection::open(gate.address).reply();
    assert_eq!(refused.status, 429, "{refused:?}");
    assert_eq!(refused.header("connection").as_deref(), Some("close"));
    assert!(refused.text().contains("as many connections open"), "{}", refused.text());
    assert_eq!(gate.metric("tollgate_connections_crowded_total"), 1.0);
    assert_eq!(gate.metric("tollgate_connections_rejected_total"), 0.0);
    drop(first);
    until("its place is free", || Connection::open(gate.address).get("/").status == 200);
    assert_eq!(second.get("/").status, 200);

    gate.reload(&open(upstream.address));
    let mut many: Vec<_> = (0..5).map(|_| Connection::open(gate.address)).collect();
    assert!(many.iter_mut().all(|one| one.get("/").status == 200), "no bound any more");
}
