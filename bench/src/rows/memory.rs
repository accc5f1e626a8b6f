//! Resident bytes a key, all included, each in a process of its own: what the system has really given. Governor's keys are
//! strings, and their bytes count; ours are hashes.

use std::hint::black_box;

use tollgate_store::SystemClock;

use super::alone as measure;
use crate::keys::key;
use crate::peers::{BEGIN, Rule, begin, governor_keyed, keyed, window};
use crate::table::{Measured, Target};

/// At one and ten million keys, of one and of two words.
pub fn run(name: &str) -> Vec<Measured> {
    let mut rows = Vec::new();
    for (keys, count) in [("1 M", "1000000"), ("10 M", "10000000")] {
        let [peer, _] = measure(&format!("memory governor {count}"));
        for (words, what, target) in [("one word", "bucket", 0.35), ("two words", "window", 0.5)] {
            let [ours, _] = measure(&format!("memory {what} {count}"));
            let name = format!("{name}: {keys} keys, {words}");
            rows.push(Measured { name, ours, peer, unit: "B", target: Target::Ratio(target) });
        }
    }
    rows
}

/// `memory <what> <keys>`: bytes a key.
pub fn alone(what: &str) -> Option<[f64; 2]> {
    let [what, count] = what.strip_prefix("memory ")?.split(' ').collect::<Vec<_>>()[..] else {
        return None;
    };
    let count: usize = count.parse().ok()?;
    let before = resident();
    let after = match what {
        "governor" => {
            let limiter = governor_keyed(Rule::Admits);
            (0..count).for_each(|number| {
                black_box(limiter.check_key_n(&key(number), begin()).is_ok());
            });
            let after = resident();
            black_box(limiter.len());
            after
        }
        _ => {
            let limit = if what == "bucket" { Rule::Admits.limit() } else { window(1_000_000) };
            let limiter = keyed(limit, 2 * count, SystemClock::new());
            (0..count).for_each(|number| {
                black_box(limiter.check_n(&key(number), BEGIN.into()).is_ok());
            });
            let after = resident();
            assert_eq!(limiter.len(), count);
            after
        }
    };
    Some([(after - before) as f64 / count as f64, 0.0])
}

/// Bytes of this process that are in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
