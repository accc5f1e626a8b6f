//! `tollgate replay` against the model in `model/`: generated policies and traces, every field of every decision line.
//!
//! `TOLLGATE_SEEDS=5000` compares that many seeds, `TOLLGATE_SEEDS=17..18` those from 17 to before 18. A seed that
//! differs is printed with its policy and the shortest trace that still differs.

mod model;
mod on_a_server;
#[path = "../../tollgate-store/tests/servers/mod.rs"]
mod servers;

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use model::generate::{Case, case};
use model::run::{check, keeps_promises};

/// What is compared where nothing else is asked for.
const SEEDS: Range<u64> = 0..300;

/// After so many failures the rest is not looked at.
const ENOUGH: usize = 3;

fn seeds() -> Range<u64> {
    let Ok(asked) = std::env::var("TOLLGATE_SEEDS") else { return SEEDS };
    let number = |text: &str| text.parse::<u64>().expect("TOLLGATE_SEEDS is a number, or FROM..TO");
    match asked.split_once("..") {
        Some((from, to)) => number(from)..number(to),
        None => 0..number(&asked),
    }
}

/// Runs a check over all seeds on every core, and fails with what it found.
fn over_seeds(seeds: Range<u64>, look: impl Fn(Case) -> Result<(), String> + Sync) {
    let next = AtomicU64::new(seeds.start);
    let failures = Mutex::new(Vec::new());
    let work = || {
        while failures.lock().expect("no check panicked").len() < ENOUGH {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                break;
            }
            if let Err(failure) = look(case(seed)) {
                failures.lock().expect("no check panicked").push(failure);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let failures = failures.into_inner().expect("no check panicked");
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn replay_decides_as_the_model_does() {
    over_seeds(seeds(), |case| check(&case).map_err(|failure| failure.to_string()));
}

#[test]
fn retry_times_hold_from_both_sides() {
    let tried = AtomicUsize::new(0);
    let seeds = seeds();
    let fifth = seeds.start..seeds.start + (seeds.end - seeds.start).div_ceil(5);
    over_seeds(fifth, |case| {
        tried.fetch_add(keeps_promises(&case)?, Ordering::Relaxed);
        Ok(())
    });
    assert!(tried.into_inner() > 0, "no refusal with a retry time was tried");
}
