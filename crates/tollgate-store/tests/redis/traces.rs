//! The same traces through memory and through the scripts, with the same clock: every word of every answer is the same.
//!
//! The memory store's clock never steps back, as a replay's does not; the model's does.

use tollgate_core::{Algorithm, Limit, Micros, Period, Timestamp};
use tollgate_store::{
    Call, Charge, LimitId, MemoryOptions, MemoryStore, Store, StoreOutcome, Taken,
};

use crate::behaviour::world::{START, definition, run};
use crate::hosted::Hosted;
use crate::model::Model;
use crate::random::Random;
use crate::servers::Program;

/// Traces a run on each of memory and model, and decisions a trace.
const TRACES: u64 = 60;
const DECISIONS: usize = 100;

/// What a trace asks; the stores answer side by side.
struct Trace<'s, R, S> {
    random: Random,
    memory: R,
    steps_back: bool,
    shared: &'s S,
    limits: Vec<Limit>,
    /// The ids in memory and in the shared store.
    ids: Vec<(LimitId, LimitId)>,
    now: u64,
    /// What both took and nobody has settled.
    taken: Vec<(Taken, Taken)>,
    /// What was asked, for the failure's message.
    told: String,
}

impl<'s, R: Store, S: Store> Trace<'s, R, S> {
    fn new(name: &str, seed: u64, memory: R, shared: &'s S) -> Trace<'s, R, S> {
        let mut random = Random::new(seed);
        let limits: Vec<Limit> = (0..1 + random.below(4)).map(|_| random.limit()).collect();
        let definitions: Vec<_> = limits
            .iter()
            .enumerate()
            .map(|(place, limit)| definition(&format!("{name} {place}"), limit))
            .collect();
        // A while after the beginning, so that there is room to step back.
        let now = START + 10 * 86_400_000_000 + random.below(86_400_000_000);
        let moment = Timestamp::from_micros(now);
        let ids = memory.define(&definitions, moment);
        let ids = ids.into_iter().zip(shared.define(&definitions, moment)).collect();
        let told = format!("trace of seed {seed}: {limits:#?}\n");
        let (steps_back, taken) = (false, Vec::new());
        Trace { random, memory, steps_back, shared, limits, ids, now, taken, told }
    }

    fn moment(&self) -> Timestamp {
        Timestamp::from_micros(self.now)
    }

    fn tell(&mut self, what: String) {
        self.told.push_str(&format!("{} us: {what}\n", self.now as i64 - START as i64));
    }

    #[track_caller]
    fn compare(&self, memory: Vec<String>, scripts: Vec<String>) {
        let mut lines = memory.iter().zip(&scripts);
        if let Some((memory, scripts)) = lines.find(|(memory, scripts)| memory != scripts) {
            panic!("{}memory:  {memory}\nscripts: {scripts}", self.told);
        }
        assert_eq!(memory.len(), scripts.len(), "{}", self.told);
    }

    async fn run(&mut self) {
        for _ in 0..DECISIONS {
            let step = self.random.step();
            let step = if self.steps_back { step } else { step.max(0) };
            self.now = self.now.saturating_add_signed(step).max(START);
            match self.random.below(8) {
                0 if !self.taken.is_empty() => self.correct().await,
                1 => self.peek().await,
                _ => self.decide().await,
            }
        }
    }

    async fn decide(&mut self) {
        let hold = self.random.once_in(3).then(|| Micros::new(self.random.pick(&[0, 1, 500_000])));
        let charges: Vec<(usize, &str, u64)> =
            (0..1 + self.random.below(self.limits.len() as u64 + 1))
                .map(|_| {
                    let limit = self.random.below(self.limits.len() as u64) as usize;
                    (limit, self.random.pick(&["a", "a", "a", "b"]), self.random.cost())
                })
                .collect();
        self.tell(format!("charge {charges:?}, hold {hold:?}"));
        let period = Some(hour(self.now));
        let (now, ids) = (self.moment(), &self.ids);
        let asked = |id: &dyn Fn(usize) -> LimitId| -> Vec<Charge<'_>> {
            let charge = |(limit, key, cost): &(usize, &'static str, u64)| Charge {
                limit: id(*limit),
                key: key.as_bytes(),
                cost: *cost,
                period,
            };
            charges.iter().map(charge).collect()
        };
        let (mine, theirs) = (asked(&|at| ids[at].0), asked(&|at| ids[at].1));
        let mine = self.memory.charge_all(&Call { charges: &mine, now, hold }).await;
        let theirs = self.shared.charge_all(&Call { charges: &theirs, now, hold }).await;
        let mine = mine.expect("an answer");
        let theirs = theirs.unwrap_or_else(|error| panic!("{}{error}", self.told));
        self.compare(words(&mine), words(&theirs));
        self.taken.extend(mine.receipt.taken.into_iter().zip(theirs.receipt.taken));
    }

    /// Settles or releases something that was taken.
    async fn correct(&mut self) {
        let place = self.random.below(self.taken.len() as u64) as usize;
        let (mine, theirs) = self.taken.swap_remove(place);
        let mut units = self.random.pick(&[0, 0, 1, 2, mine.charged.units, mine.charged.units + 3]);
        let limit = self.ids.iter().position(|(id, _)| *id == mine.limit);
        let limit = limit.map(|place| self.limits[place].algorithm());
        if self.steps_back && matches!(limit, Some(Algorithm::Quota(_))) {
            // Which period a late charge of a quota falls in, is only known to stores whose clock does not step back.
            units = units.min(mine.charged.units);
        }
        let now = self.moment();
        if self.random.once_in(3) {
            self.tell(format!("release {:?}", mine.charged));
            self.memory.release(mine, now).await.expect("an answer");
            self.shared.release(theirs, now).await.expect("an answer");
        } else {
            self.tell(format!("settle {:?} of {:?} at {units}", mine.charged, mine.limit));
            self.memory.settle(mine, units, now).await.expect("an answer");
            self.shared.settle(theirs, units, now).await.expect("an answer");
        }
        self.peek().await;
    }

    async fn peek(&mut self) {
        let period = Some(hour(self.now));
        for place in 0..self.limits.len() {
            for key in ["a", "b"] {
                let charge = |limit| Charge { limit, key: key.as_bytes(), cost: 0, period };
                let (mine, theirs) = self.ids[place];
                let mine = self.memory.peek(&charge(mine), self.moment()).await;
                let theirs = self.shared.peek(&charge(theirs), self.moment()).await;
                self.told.push_str(&format!("{} us: peek {key} of {place}\n", self.now - START));
                self.compare(vec![format!("{mine:?}")], vec![format!("{theirs:?}")]);
            }
        }
    }
}

/// All that an answer says, line by line, but for tickets and the stores' own names of keys.
fn words(outcome: &StoreOutcome) -> Vec<String> {
    let StoreOutcome { decision, limits, receipt, now } = outcome;
    let mut lines = vec![format!("{decision:?} at {now:?}")];
    lines.extend(limits.iter().map(|limit| format!("{:?} {:?}", limit.outcome, limit.source)));
    lines.extend(receipt.taken.iter().map(|taken| {
        let tollgate_core::Charged { units, fraction, at, .. } = taken.charged;
        format!("{}: {units} {fraction} {at:?} {:?}", taken.place, taken.period)
    }));
    lines
}

/// The hour around `now`, in microseconds.
fn hour(now: u64) -> Period {
    const HOUR: u64 = 3_600_000_000;
    let start = now - now % HOUR;
    Period { start: Timestamp::from_micros(start), end: Timestamp::from_micros(start + HOUR) }
}

/// The seed of a run: one of its own each day, or what `TOLLGATE_SEED` says.
fn seed() -> u64 {
    let given = std::env::var("TOLLGATE_SEED").ok().and_then(|seed| seed.parse().ok());
    let days =
        || std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs() / 86_400;
    let seed = given.unwrap_or_else(days);
    eprintln!("TOLLGATE_SEED={seed}");
    seed
}

/// With `steps_back` also under a clock that does.
pub(crate) async fn every_word_is_the_memory_stores(
    shared: &impl Store,
    traces: u64,
    steps_back: bool,
) {
    let mut seeds = Random::new(seed());
    for number in 0..traces {
        let memory = MemoryStore::new(MemoryOptions::unbounded());
        Trace::new(&format!("memory {number}"), seeds.next(), memory, shared).run().await;
        let name = format!("model {number}");
        let mut trace = Trace::new(&name, seeds.next(), Model::default(), shared);
        trace.steps_back = steps_back;
        trace.run().await;
    }
}

fn on(program: &Program) {
    let hosted = Hosted::replay(program);
    run(every_word_is_the_memory_stores(&hosted, TRACES, true));
}

#[test]
fn traces_on_redis() {
    Program::redis().iter().for_each(on);
}

#[test]
fn traces_on_valkey() {
    Program::valkey().iter().for_each(on);
}

#[test]
fn a_mix_of_every_algorithm_is_drawn() {
    let mut random = Random::new(1);
    let kinds: std::collections::HashSet<_> =
        (0..200).map(|_| std::mem::discriminant::<Algorithm>(random.limit().algorithm())).collect();
    assert_eq!(kinds.len(), 7);
}
