//! Requests that do not stop, and what became of them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tollgate_store::{Store, StoreError, Trouble};

use super::node::{LIMITS, Node, is_admitted, runtime};
use super::servers::until;

/// The default budget, and what a loaded machine may take longer to wake a thread.
const BUDGET: Duration = Duration::from_millis(20);
const SLACK: Duration = Duration::from_millis(250);

/// Callers that do not stop.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    decided: Arc<AtomicU64>,
    callers: Vec<JoinHandle<Tally>>,
}

/// What became of the requests.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) admitted: u64,
    pub(crate) refused: u64,
    /// Those whose fate nobody knows: they were charged or not, once at most.
    pub(crate) unknown: u64,
    pub(crate) troubles: BTreeMap<Trouble, u64>,
    times: Vec<Duration>,
}

impl Load {
    /// Four threads that send requests, each with a short rest between.
    pub(crate) fn start<S: Store + Clone>(node: &Node<S>) -> Load {
        let (stop, decided) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let callers = (0..4)
            .map(|_| {
                let (node, stop, decided) = (node.clone(), Arc::clone(&stop), Arc::clone(&decided));
                std::thread::spawn(move || {
                    let (runtime, mut tally) = (runtime(), Tally::default());
                    while !stop.load(Ordering::Relaxed) {
                        let begun = Instant::now();
                        let answer = runtime.block_on(node.request());
                        tally.times.push(begun.elapsed());
                        decided.fetch_add(u64::from(answer.is_ok()), Ordering::Relaxed);
                        match answer {
                            Ok(outcome) if is_admitted(&outcome) => tally.admitted += 1,
                            Ok(_) => tally.refused += 1,
                            Err(StoreError::Unavailable(trouble)) => tally.trouble(trouble),
                            Err(other) => panic!("{other}"),
                        }
                        std::thread::sleep(Duration::from_millis(2));
                    }
                    tally
                })
            })
            .collect();
        let load = Load { stop, decided, callers };
        load.wait(50);
        load
    }

    /// Waits for so many more decisions.
    #[track_caller]
    pub(crate) fn wait(&self, more: u64) {
        let decided = || self.decided.load(Ordering::Relaxed);
        let goal = decided() + more;
        until("requests are decided", || decided() >= goal);
    }

    /// Waits until requests are decided again, ends them and says what became of them.
    #[track_caller]
    pub(crate) fn stop(self, what: &str) -> Tally {
        self.wait(200);
        self.stop.store(true, Ordering::Relaxed);
        let mut all = Tally::default();
        for caller in self.callers {
            let tally = caller.join().expect("no request panics");
            all.admitted += tally.admitted;
            all.refused += tally.refused;
            all.unknown += tally.unknown;
            for (trouble, count) in tally.troubles {
                *all.troubles.entry(trouble).or_default() += count;
            }
            all.times.extend(tally.times);
        }
        all.times.sort();
        println!("{what}: {}", all.summary());
        let longest = all.times.last().copied().unwrap_or_default();
        assert!(longest <= BUDGET + SLACK, "a request took {longest:?}: {}", all.summary());
        all
    }
}

impl Tally {
    fn trouble(&mut self, trouble: Trouble) {
        if trouble.leaves_doubt() {
            self.unknown += 1;
        }
        *self.troubles.entry(trouble).or_default() += 1;
    }

    pub(crate) fn summary(&self) -> String {
        let at = |share: usize| {
            let place = (self.times.len() * share / 1000).min(self.times.len().saturating_sub(1));
            self.times.get(place).copied().unwrap_or_default()
        };
        format!(
            "{} admitted, {} refused, {:?}; 50 % in {:?}, 99 % in {:?}, 99.9 % in {:?}, all in {:?}",
            self.admitted,
            self.refused,
            self.troubles,
            at(500),
            at(990),
            at(999),
            at(1000)
        )
    }

    /// Nothing was charged twice, and nothing that was admitted was lost: what a key counts beyond the admitted is of
    /// requests whose answer was lost.
    #[track_caller]
    pub(crate) fn assert_charged_once(
        &self,
        before: [u64; LIMITS.len()],
        after: [u64; LIMITS.len()],
    ) {
        for ((name, before), after) in LIMITS.iter().zip(before).zip(after) {
            let counted = after - before;
            assert!(
                (self.admitted..=self.admitted + self.unknown).contains(&counted),
                "{name}: {counted} counted; {}",
                self.summary()
            );
        }
    }

    /// How often it was `trouble`.
    pub(crate) fn count(&self, trouble: Trouble) -> u64 {
        self.troubles.get(&trouble).copied().unwrap_or_default()
    }
}
