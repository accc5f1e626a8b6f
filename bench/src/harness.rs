//! Ours and the peer, round by round in turn.

use std::sync::{Barrier, OnceLock};

use tollgate_store::{Clock, SystemClock};

use crate::table::{Measured, Target};

/// Rounds that are compared; one more goes before, to warm up.
const ROUNDS: usize = 9;

/// Microseconds now.
pub fn now() -> u64 {
    static CLOCK: OnceLock<SystemClock> = OnceLock::new();
    CLOCK.get_or_init(SystemClock::new).now().as_micros()
}

/// Runs both for `operations` calls a thread and a round, and compares the medians of their nanoseconds a call. Both are
/// given the thread and the number of the call.
pub fn compare(
    name: &str,
    target: Target,
    threads: usize,
    operations: usize,
    ours: impl Fn(usize, usize) + Sync,
    peer: impl Fn(usize, usize) + Sync,
) -> Measured {
    let (mut mine, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        // Who goes first changes, and each round goes on where the one before ended.
        let first = round * operations;
        let times = if round % 2 == 0 {
            let ours = timed(threads, first, operations, &ours);
            (ours, timed(threads, first, operations, &peer))
        } else {
            let peer = timed(threads, first, operations, &peer);
            (timed(threads, first, operations, &ours), peer)
        };
        if round > 0 {
            mine.push(times.0);
            theirs.push(times.1);
        }
    }
    let name = name.to_owned();
    Measured { name, ours: median(mine), peer: median(theirs), unit: "ns", target }
}

/// Nanoseconds a call, of `threads` threads that begin together, until the last ends.
fn timed(
    threads: usize,
    first: usize,
    operations: usize,
    call: &(impl Fn(usize, usize) + Sync),
) -> f64 {
    if threads == 1 {
        let begin = now();
        (first..first + operations).for_each(|number| call(0, number));
        return (now() - begin) as f64 * 1000.0 / operations as f64;
    }
    let barrier = Barrier::new(threads);
    let ends: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let run = |thread| {
            barrier.wait();
            let begin = now();
            (first..first + operations).for_each(|number| call(thread, number));
            (begin, now())
        };
        let handles: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
        handles.into_iter().map(|handle| handle.join().expect("a round")).collect()
    });
    let begin = ends.iter().map(|(begin, _)| *begin).min().unwrap_or(0);
    let end = ends.iter().map(|(_, end)| *end).max().unwrap_or(0);
    (end - begin) as f64 * 1000.0 / operations as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
