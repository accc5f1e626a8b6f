//! How long keys last, by the server's own clock: no key without an end, none that outlives its state by more than a window
//! or a refill, none that ends before its state does.

use tollgate_core::Timestamp;
use tollgate_store::{Call, Charge, Store};

use crate::behaviour::world::{definition, every_kind, run};
use crate::hosted::Hosted;
use crate::servers::Program;

/// The hour around the machine's now.
fn period() -> Option<tollgate_core::Period> {
    const DAY: u64 = 86_400_000_000;
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_micros() as u64;
    let start = now - now % DAY;
    let (start, end) = (Timestamp::from_micros(start), Timestamp::from_micros(start + DAY));
    Some(tollgate_core::Period { start, end })
}

/// The only key's time to live, in milliseconds.
fn left(hosted: &Hosted, key: &[u8]) -> u64 {
    let mut client = hosted.server.client().expect("a connection");
    let left: i64 = redis::cmd("PTTL").arg(key).query(&mut client).expect("a TTL");
    u64::try_from(left).unwrap_or_else(|_| panic!("{left} ms left"))
}

fn on(program: &Program) {
    for (kind, limit) in every_kind(5) {
        let hosted = Hosted::with(program, |_| {});
        let ids = hosted.define(&[definition("l", &limit)], Timestamp::EPOCH);
        run(async {
            let charge = |cost| Charge { limit: ids[0], key: b"k", cost, period: period() };
            let mut lasting = Vec::new();
            for cost in [1, 3, 1, 4, 0, 9] {
                let charges = [charge(cost)];
                let call = Call { charges: &charges, now: Timestamp::EPOCH, hold: None };
                hosted.charge_all(&call).await.expect("an answer");
                let keys = hosted.server.keys();
                // Beside the state a bucket keeps its parameters for other nodes.
                let kept = |key: &&Vec<u8>| left(&hosted, key) < 86_400_001;
                let key = keys.iter().find(kept).unwrap_or_else(|| panic!("a key of a {kind}"));
                // In this order: time passes between the two.
                let left = left(&hosted, key);
                let standing = hosted.peek(&charge(0), Timestamp::EPOCH).await.expect("an answer");
                assert!(left * 1000 >= standing.reset.get(), "{kind}: {left} ms, {standing:?}");
                lasting.push(left);
            }
            // A refusal and a question change nothing, and no charge prolongs a window.
            let most = if kind == "quota" { 86_400_002 } else { 120_005 };
            assert!(lasting.iter().all(|left| *left <= most), "{kind}: {lasting:?}");
            assert!(lasting[4] <= lasting[3] && lasting[5] <= lasting[4], "{kind}: {lasting:?}");
        });
    }
}

#[test]
fn keys_last_as_long_as_their_states_on_redis() {
    Program::redis().iter().for_each(on);
}

#[test]
fn keys_last_as_long_as_their_states_on_valkey() {
    Program::valkey().iter().for_each(on);
}

#[test]
fn red_01_a_key_that_lost_its_expiry_has_one_again_with_the_next_charge() {
    let Some(program) = Program::redis() else { return };
    for (kind, limit) in every_kind(5) {
        let hosted = Hosted::with(&program, |_| {});
        let ids = hosted.define(&[definition("l", &limit)], Timestamp::EPOCH);
        let charge = async || {
            let charges = [Charge { limit: ids[0], key: b"k", cost: 1, period: period() }];
            let call = Call { charges: &charges, now: Timestamp::EPOCH, hold: None };
            hosted.charge_all(&call).await.expect("an answer").decision
        };
        run(async {
            assert!(charge().await.admitted, "{kind}");
            let keys = hosted.server.keys();
            // Beside the state a bucket keeps its parameters for other nodes.
            let kept = |key: &&Vec<u8>| left(&hosted, key) < 86_400_003;
            let key = keys.iter().find(kept).unwrap_or_else(|| panic!("a key of a {kind}"));
            let mut client = hosted.server.client().expect("a connection");
            let _: i64 = redis::cmd("PERSIST").arg(key).query(&mut client).expect("an answer");
            assert!(charge().await.admitted, "{kind}");
            let most = if kind == "quota" { 86_400_002 } else { 120_005 };
            assert!(left(&hosted, key) <= most, "{kind}");
        });
    }
}
