//! Resident bytes a key, all included, each in a process of its own: what the system has really given. Ours keeps hashes;
//! governor keeps keys, as strings of their own or, in rows that have no target, in place.

use std::hash::Hash;
use std::hint::black_box;

use tollgate_core::Limit;
use tollgate_store::SystemClock;

use super::alone as measure;
use crate::keys::{Key, key};
use crate::peers::{BEGIN, Rule, begin, governor_keyed, keyed, window};
use crate::table::{Measured, Target};

/// At one and ten million keys, of one and of two words.
pub fn run(name: &str) -> Vec<Measured> {
    let mut rows = Vec::new();
    for (keys, count) in [("1 M", "1000000"), ("10 M", "10000000")] {
        let [one, _] = measure(&format!("memory bucket {count}"));
        let [two, _] = measure(&format!("memory window {count}"));
        let [strings, _] = measure(&format!("memory governor-strings {count}"));
        let [in_place, _] = measure(&format!("memory governor-in-place {count}"));
        let mut row = |what: &str, ours, peer, target| {
            let name = format!("{name}: {keys} keys, {what}");
            rows.push(Measured { name, ours, peer, unit: "B", target, disturbed: false });
        };
        row("one word", one, strings, Target::Ratio(0.35));
        row("two words", two, strings, Target::Ratio(0.5));
        row("one word, the peer's keys in place", one, in_place, Target::None);
    }
    rows
}

/// `memory <what> <keys>`: bytes a key.
pub fn alone(what: &str) -> Option<[f64; 2]> {
    let [what, count] = what.strip_prefix("memory ")?.split(' ').collect::<Vec<_>>()[..] else {
        return None;
    };
    let count: usize = count.parse().ok()?;
    let bytes = match what {
        "governor-strings" => governor(count, |key| String::from_utf8_lossy(&key).into_owned()),
        "governor-in-place" => governor(count, |key| key),
        "bucket" => ours(count, Rule::Admits.limit()),
        "window" => ours(count, window(1_000_000)),
        _ => return None,
    };
    Some([bytes as f64 / count as f64, 0.0])
}

fn governor<K: Hash + Eq + Clone>(count: usize, of: impl Fn(Key) -> K) -> u64 {
    let before = resident();
    let limiter = governor_keyed(Rule::Admits);
    (0..count).for_each(|number| {
        black_box(limiter.check_key_n(&of(key(number)), begin()).is_ok());
    });
    let after = resident();
    black_box(limiter.len());
    after - before
}

fn ours(count: usize, limit: Limit) -> u64 {
    let before = resident();
    let limiter = keyed(limit, 2 * count, SystemClock::new());
    (0..count).for_each(|number| {
        black_box(limiter.check_n(&key(number), BEGIN.into()).is_ok());
    });
    let after = resident();
    assert_eq!(limiter.len(), count);
    after - before
}

/// Bytes of this process that are in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
