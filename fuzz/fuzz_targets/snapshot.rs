//! Any file as a snapshot, and any content in frames that are right: no panic, neither in reading it nor in going on with
//! what it held; and what was taken is written and taken again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tollgate_core::{Period, Timestamp};
use tollgate_fuzz::framed::framed;
use tollgate_fuzz::snapshots::{NOW, definitions};
use tollgate_store::{Call, Charge, LimitId, MemoryOptions, MemoryStore, Store};

fuzz_target!(|data: &[u8]| {
    go_on(data);
    go_on(&framed(data));
});

/// Reads a file; where it is taken, decides, sweeps, and reads it once more from what is written then.
fn go_on(file: &[u8]) {
    let options = MemoryOptions::default;
    let Ok((store, _)) = MemoryStore::restore(file, options(), &definitions(), NOW) else { return };
    let ids = store.define(&definitions(), NOW);
    for later in [0, 1_000_000, 3_600_000_000] {
        let now = Timestamp::from_micros(NOW.as_micros() + later);
        decide(&store, &ids, now);
        while !store.sweep(now) {}
        let mut written = Vec::new();
        store.snapshot(&mut written, now, || {}).expect("memory takes everything");
        let again = MemoryStore::restore(&written[..], options(), &definitions(), now);
        let (again, restored) = again.expect("what was written is right");
        let ids = again.define(&definitions(), now);
        assert_eq!(restored.dropped + restored.expired, 0);
        decide(&again, &ids, now);
    }
}

fn decide(store: &MemoryStore, ids: &[LimitId], now: Timestamp) {
    let day = 86_400_000_000;
    let start = now.as_micros() / day * day;
    let moment = Timestamp::from_micros;
    let period = Some(Period { start: moment(start), end: moment(start + day) });
    for key in [&b"a"[..], b"b"] {
        let charge = |limit: &LimitId| Charge { limit: *limit, key, cost: 1, period };
        let charges: Vec<Charge<'_>> = ids.iter().map(charge).collect();
        let call = Call { charges: &charges, now, hold: None };
        store.charge_all_now(&call).expect("an answer");
    }
}
