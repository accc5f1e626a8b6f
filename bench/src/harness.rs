//! Ours and the peer, round by round in turn, in slices of which only the undisturbed count.

use std::sync::atomic::{AtomicUsize, Ordering};

use tollgate_store::Stopwatch;

use crate::table::{Measured, Target};

/// Rounds that are compared; one more goes before, to warm up.
const ROUNDS: usize = 8;

/// Slices of a round.
const SLICES: usize = 128;

/// Nanoseconds that a thread may have waited for a processor in a slice that counts.
const WAITED: u64 = 20_000;

/// Slices that must count on either side, or the row says nothing.
const ENOUGH: usize = 16;

/// What is measured.
pub struct Contest<'a> {
    /// The row.
    pub name: &'a str,
    /// What is to be held.
    pub target: Target,
    /// Threads that ask at once.
    pub threads: usize,
    /// Calls of each thread in a slice: a millisecond or so, short enough that other programs leave some slices alone.
    pub calls: usize,
}

/// Runs both and compares the medians of their nanoseconds a call. `ask` makes what a call of a thread asks for, by the
/// number of the call: just before the slice, so that it is at hand like a request that was just read, and untimed.
///
/// A slice in which a thread was put aside says nothing, least of all where two are to meet: it is left out.
pub fn compare<T: Send>(
    contest: &Contest<'_>,
    ask: impl Fn(usize, usize) -> T + Sync,
    ours: impl Fn(&T) + Sync,
    peer: impl Fn(&T) + Sync,
) -> Measured {
    let (mut mine, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        // Who goes first changes, and each round goes on where the one before ended.
        let first = round * SLICES * contest.calls;
        let slices = if round % 2 == 0 {
            let ours = slices(contest, first, &ask, &ours);
            (ours, slices(contest, first, &ask, &peer))
        } else {
            let peer = slices(contest, first, &ask, &peer);
            (slices(contest, first, &ask, &ours), peer)
        };
        if round > 0 {
            mine.extend(slices.0);
            theirs.extend(slices.1);
        }
    }
    let ((ours, ours_disturbed), (peer, peer_disturbed)) = (median(&mine), median(&theirs));
    let disturbed = ours_disturbed || peer_disturbed;
    let (name, target) = (contest.name.to_owned(), contest.target);
    Measured { name, ours, peer, unit: "ns", target, disturbed }
}

/// What a slice took.
#[derive(Clone, Copy)]
struct Slice {
    /// Nanoseconds since the round began.
    begin: u64,
    end: u64,
    /// Nanoseconds that the thread waited for a processor.
    waited: u64,
}

/// Nanoseconds a call of each slice, from the first thread's begin to the last one's end; and whether it counts.
fn slices<T: Send>(
    contest: &Contest<'_>,
    first: usize,
    ask: &(impl Fn(usize, usize) -> T + Sync),
    call: &(impl Fn(&T) + Sync),
) -> Vec<(f64, bool)> {
    let Contest { threads, calls, .. } = *contest;
    let (arrived, watch) = (AtomicUsize::new(0), Stopwatch::start());
    let run = |thread: usize| -> Vec<Slice> {
        let mut asked = Vec::with_capacity(calls);
        let mut slice = |number: usize| {
            let from = first + number * calls;
            asked.clear();
            asked.extend((from..from + calls).map(|number| ask(thread, number)));
            let before = waited();
            meet(&arrived, (number + 1) * threads);
            let begin = watch.nanos();
            asked.iter().for_each(call);
            let end = watch.nanos();
            Slice { begin, end, waited: waited() - before }
        };
        (0..SLICES).map(&mut slice).collect()
    };
    let of_threads: Vec<Vec<Slice>> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads)
            .map(|thread| {
                scope.spawn({
                    let run = &run;
                    move || run(thread)
                })
            })
            .collect();
        let others = others.into_iter().map(|handle| handle.join().expect("a round"));
        std::iter::once(run(0)).chain(others).collect()
    });
    let together = |number: usize| {
        let slices = of_threads.iter().map(|slices| slices[number]);
        let begin = slices.clone().map(|slice| slice.begin).min().unwrap_or(0);
        let end = slices.clone().map(|slice| slice.end).max().unwrap_or(0);
        let counts = slices.clone().all(|slice| slice.waited <= WAITED);
        ((end - begin) as f64 / calls as f64, counts)
    };
    (0..SLICES).map(together).collect()
}

/// Waits, turning, until `all` have come.
fn meet(arrived: &AtomicUsize, all: usize) {
    arrived.fetch_add(1, Ordering::AcqRel);
    while arrived.load(Ordering::Acquire) < all {
        std::hint::spin_loop();
    }
}

/// Nanoseconds that this thread has waited for a processor since it began; 0 where the system does not say.
fn waited() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').nth(1).and_then(|waited| waited.parse().ok()).unwrap_or(0)
}

/// The median of the slices that count, or of all where too few do; and whether too few did.
fn median(slices: &[(f64, bool)]) -> (f64, bool) {
    let disturbed = slices.iter().filter(|(_, counts)| *counts).count() < ENOUGH;
    let counting = slices.iter().filter(|(_, counts)| *counts || disturbed);
    let mut times: Vec<f64> = counting.map(|(time, _)| *time).collect();
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], disturbed)
}
