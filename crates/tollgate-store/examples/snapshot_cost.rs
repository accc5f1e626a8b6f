//! What a snapshot of a million keys costs: its time and bytes, and what decisions meanwhile notice of it.
//!
//! `cargo run --release -p tollgate-store --example snapshot_cost`

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tollgate_core::{Algorithm, FixedWindow, Limit, Micros, Rules, Timestamp};
use tollgate_store::snapshot::SnapshotFile;
use tollgate_store::{
    Call, Charge, Definition, LimitId, MemoryOptions, MemoryStore, Shape, Sharing, Store,
};

const KEYS: u64 = 1_000_000;

fn main() {
    let folder = std::env::temp_dir().join(format!("tollgate-snapshot-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = SnapshotFile::lock(&folder.join("counts")).expect("nobody holds it");
    let (store, limit) = filled();
    let before = peak();
    println!("alone: longest decisions {:?}", longest(&store, limit, || {}));
    let mut told = None;
    let meanwhile = longest(&store, limit, || {
        let begun = Instant::now();
        let written = file.save(&store, at(1), std::thread::yield_now).expect("saved");
        told = Some((written, begun.elapsed()));
    });
    println!("meanwhile: longest decisions {meanwhile:?}");
    println!("{told:?}; peak memory grew by {} KiB of {before}", peak() - before);
    let begun = Instant::now();
    file.open(MemoryOptions::default(), &definitions(), at(1)).expect("opened");
    println!("read in {:?}", begun.elapsed());
    std::fs::remove_dir_all(folder).expect("removed");
}

fn at(second: u64) -> Timestamp {
    Timestamp::from_micros(1_767_225_600_000_000 + second * 1_000_000)
}

fn definitions() -> [Definition; 1] {
    let window = FixedWindow { limit: 1 << 40, window: Micros::from_secs(86_400) };
    let limit = Limit::new(Algorithm::FixedWindow(window), Rules::default()).expect("a limit");
    [Definition {
        name: "daily".into(),
        class: None,
        limit,
        shape: Shape(String::new()),
        max_keys: KEYS as usize,
        sharing: Sharing::default(),
    }]
}

fn filled() -> (MemoryStore, LimitId) {
    let store = MemoryStore::new(MemoryOptions::default());
    let limit = store.define(&definitions(), at(0))[0];
    (0..KEYS).for_each(|key| charge(&store, limit, key));
    (store, limit)
}

fn charge(store: &MemoryStore, limit: LimitId, key: u64) {
    let key = key.to_le_bytes();
    let charges = [Charge { limit, key: &key, cost: 1, period: None }];
    store.charge_all_now(&Call { charges: &charges, now: at(1), hold: None }).expect("an answer");
}

/// The 99.99th percentile and the longest of at least a million decisions, made while `what` is done and at least as long.
fn longest(
    store: &MemoryStore,
    limit: LimitId,
    what: impl FnOnce() + Send,
) -> [std::time::Duration; 2] {
    let done = AtomicBool::new(false);
    let mut times = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            what();
            done.store(true, Ordering::Relaxed);
        });
        for key in (0..).map(|number: u64| number.wrapping_mul(7_919) % KEYS) {
            let begun = Instant::now();
            charge(store, limit, key);
            times.push(begun.elapsed());
            if times.len() >= 1_000_000 && done.load(Ordering::Relaxed) {
                break;
            }
        }
    });
    times.sort_unstable();
    [times[times.len() - times.len() / 10_000], times[times.len() - 1]]
}

/// The most memory that the process ever had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
