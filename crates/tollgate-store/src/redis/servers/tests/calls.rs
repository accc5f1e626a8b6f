//! What the tests ask of servers: a counter that shows how often a call was executed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use redis::Value;
use tokio::runtime::Builder;

use super::harness::Server;
use crate::Trouble;
use crate::redis::RedisOptions;
use crate::redis::key::KeyName;
use crate::redis::script::Script;
use crate::redis::servers::{Deadline, Servers};

/// The default budget, and what a loaded machine may take longer to wake a thread.
const BUDGET: Duration = Duration::from_millis(20);
const SLACK: Duration = Duration::from_millis(250);

/// Waits for what must come.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    Builder::new_current_thread().build().expect("a runtime").block_on(future)
}

/// More time than anything takes.
pub(super) fn long() -> Deadline {
    Deadline::within(Duration::from_secs(20))
}

pub(super) fn options(url: &str) -> RedisOptions {
    RedisOptions::from_url(url).expect("a URL")
}

/// Servers that can be asked.
#[track_caller]
pub(super) fn connected(options: &RedisOptions) -> Servers {
    let servers = Servers::start(options).expect("options");
    ready(&servers);
    servers
}

#[track_caller]
pub(super) fn ready(servers: &Servers) {
    block_on(servers.ready(long())).expect("a connection");
}

/// Adds 1 to a key, as a charge would.
pub(super) async fn add(
    servers: &Servers,
    deadline: Deadline,
    key: &str,
) -> Result<Value, Trouble> {
    let script = Script::new(
        "local count = redis.call('INCR', KEYS[1])\n\
         redis.call('PEXPIRE', KEYS[1], ARGV[1])\n\
         return count",
    );
    let key = KeyName::new(key.as_bytes());
    let slot = servers.slot(&key);
    servers.call(deadline, slot, &script, &[key], &[b"600000"]).await
}

/// Adds 1 within the default budget.
pub(super) fn add_soon(servers: &Servers, key: &str) -> Result<Value, Trouble> {
    block_on(add(servers, servers.deadline(), key))
}

/// Adds 1, however long it takes.
#[track_caller]
pub(super) fn add_surely(servers: &Servers, key: &str) -> i64 {
    match block_on(add(servers, long(), key)) {
        Ok(Value::Int(count)) => count,
        other => panic!("{other:?}"),
    }
}

/// What a key counts on the server.
#[track_caller]
pub(super) fn counted(server: &Server, key: &str) -> i64 {
    server.run::<Option<i64>>(&["GET", key]).unwrap_or_default()
}

/// Callers that do not stop.
pub(super) struct Load {
    stop: Arc<AtomicBool>,
    callers: Vec<JoinHandle<Tally>>,
}

/// What became of the calls.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Answered calls, by key.
    pub(super) answered: BTreeMap<String, i64>,
    /// Calls whose fate is unknown: they may have been executed or not, once at most.
    pub(super) unknown: BTreeMap<String, i64>,
    pub(super) troubles: BTreeMap<Trouble, u64>,
    /// How long each call took, sorted at the end.
    pub(super) times: Vec<Duration>,
}

impl Load {
    /// `callers` threads that call on `keys` in turn, each with a short rest between.
    pub(super) fn start(servers: &Arc<Servers>, callers: usize, keys: &[&str]) -> Load {
        let stop = Arc::new(AtomicBool::new(false));
        let keys: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
        let callers = (0..callers)
            .map(|first| {
                let (servers, stop) = (Arc::clone(servers), Arc::clone(&stop));
                let keys = keys.clone();
                std::thread::spawn(move || {
                    let mut tally = Tally::default();
                    for key in keys.iter().cycle().skip(first) {
                        if stop.load(Ordering::Relaxed) {
                            break;
                        }
                        tally.call(&servers, key);
                        std::thread::sleep(Duration::from_millis(2));
                    }
                    tally
                })
            })
            .collect();
        Load { stop, callers }
    }

    /// Ends the calls and says what became of them.
    pub(super) fn stop(self, what: &str) -> Tally {
        self.stop.store(true, Ordering::Relaxed);
        let mut all = Tally::default();
        for caller in self.callers {
            let tally = caller.join().expect("no call panics");
            for (from, to) in
                [(tally.answered, &mut all.answered), (tally.unknown, &mut all.unknown)]
            {
                from.into_iter().for_each(|(key, count)| *to.entry(key).or_default() += count);
            }
            for (trouble, count) in tally.troubles {
                *all.troubles.entry(trouble).or_default() += count;
            }
            all.times.extend(tally.times);
        }
        all.times.sort();
        println!("{what}: {} calls, {}, {:?}", all.times.len(), all.distribution(), all.troubles);
        all
    }
}

impl Tally {
    pub(super) fn call(&mut self, servers: &Servers, key: &str) {
        let begun = Instant::now();
        let answer = add_soon(servers, key);
        self.times.push(begun.elapsed());
        match answer {
            Ok(Value::Int(_)) => *self.answered.entry(key.to_owned()).or_default() += 1,
            Ok(other) => panic!("{other:?}"),
            Err(trouble) => {
                if trouble.leaves_doubt() {
                    *self.unknown.entry(key.to_owned()).or_default() += 1;
                }
                *self.troubles.entry(trouble).or_default() += 1;
            }
        }
    }

    fn distribution(&self) -> String {
        let at = |share: usize| {
            let place = (self.times.len() * share / 1000).min(self.times.len().saturating_sub(1));
            self.times.get(place).copied().unwrap_or_default()
        };
        format!("50 % {:?}, 99 % {:?}, 99.9 % {:?}, most {:?}", at(500), at(990), at(999), at(1000))
    }

    /// The budget is a contract: nobody waits longer, but for what the machine takes to wake him.
    #[track_caller]
    pub(super) fn assert_within_budget(&self) {
        let longest = self.times.last().copied().unwrap_or_default();
        assert!(longest <= BUDGET + SLACK, "a call took {longest:?}: {}", self.distribution());
    }

    /// No call was executed twice, and none that was answered was lost.
    #[track_caller]
    pub(super) fn assert_charged_once(&self, key: &str, counted: i64) {
        let of = |map: &BTreeMap<String, i64>| map.get(key).copied().unwrap_or_default();
        let (answered, unknown) = (of(&self.answered), of(&self.unknown));
        assert!(
            (answered..=answered + unknown).contains(&counted),
            "{key}: {counted} counted, {answered} answered, {unknown} unknown"
        );
    }
}
