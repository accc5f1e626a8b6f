//! Keys that nobody asks for any more.

use std::sync::Arc;

use tollgate_core::Timestamp;
use tollgate_store::ManualClock;

use crate::harness::{Connection, Gate, Setup, Upstream, until};

#[test]
fn mem_02_idle_keys_vanish_without_newcomers() {
    const START: u64 = 1_767_225_600_000_000;
    let upstream = Upstream::start();
    let clock = Arc::new(ManualClock::new(Timestamp::from_micros(START)));
    let yaml = crate::policies::limited(
        upstream.address,
        "{ key: [ip], fixed_window: { limit: 5, window: 1m } }",
    );
    let gate = Gate::with(&yaml, Setup { clock: clock.clone(), ..Setup::default() });
    let mut connection = Connection::open(gate.address);
    assert_eq!(connection.get("/").status, 200);
    let keys = || gate.metric("tollgate_live_keys{limit=\"it\"}");
    assert_eq!(keys(), 1.0);
    clock.set(Timestamp::from_micros(START + 60_000_000));
    until("the key is forgotten", || keys() == 0.0);
    assert_eq!(connection.get("/").status, 200);
}
