//! Random requests, settles and faults: nothing is lost, nothing is taken twice, nothing is given away.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use proptest::prelude::*;
use tollgate_core::Rules;

use super::world::{ALLOW, ESTIMATE, EXACT, NODE, World, count_refused, fixed, run};
use crate::shared::double::Health;
use crate::{Receipt, Source, Taken, Trouble};

#[derive(Clone, Debug)]
enum Step {
    /// A request for some units of each limit, which its caller waits for or not.
    Charge {
        costs: [u64; 5],
        waits: bool,
    },
    /// One of the requests before ends: so many units were right.
    Settle {
        which: usize,
        units: u64,
    },
    Becomes(Health),
    Reconcile,
    Report,
}

fn step() -> impl Strategy<Value = Step> {
    let health = prop_oneof![
        4 => Just(Health::Well),
        1 => Just(Health::Slow),
        1 => Just(Health::Hangs),
        1 => Just(Health::LosesReplies),
        1 => Just(Health::Fails(Trouble::Full)),
        1 => Just(Health::Fails(Trouble::Disconnected)),
    ];
    prop_oneof![
        12 => (prop::array::uniform5(0u64..4), prop::bool::weighted(0.9))
            .prop_map(|(costs, waits)| Step::Charge { costs, waits }),
        4 => (any::<usize>(), 0u64..3).prop_map(|(which, units)| Step::Settle { which, units }),
        2 => health.prop_map(Step::Becomes),
        1 => Just(Step::Reconcile),
        1 => Just(Step::Report),
    ]
}

/// What the test knows of one limit.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Units that stand on the node's own word.
    near: u64,
    /// Units that stand on the store's word.
    far: u64,
    /// Units that were admitted without the store, or that it may have been told of and may not.
    unsure: u64,
}

/// Five limits under one key: exact, one that lets everything pass without the store, one that counts refusals, an estimate,
/// and the node's own. Large enough for some refusals.
const LIMIT: u64 = 60;

async fn world() -> World {
    let plain = Rules::default();
    let limits = [
        (fixed(LIMIT, 600), plain.clone(), EXACT),
        (fixed(LIMIT, 600), plain.clone(), ALLOW),
        (fixed(LIMIT, 600), count_refused(), EXACT),
        (fixed(LIMIT, 600), plain.clone(), ESTIMATE),
        (fixed(LIMIT, 600), plain, NODE),
    ];
    World::with_rules(1, &limits).await
}

struct Run {
    world: World,
    known: [Known; 5],
    held: Vec<Taken>,
}

impl Run {
    async fn charge(&mut self, costs: [u64; 5], waits: bool) {
        let charges: Vec<_> = (0..5).map(|place| (place, "key", costs[place])).collect();
        let before = self.doubts();
        let said = match poll_once(self.world.try_charge(0, &charges)) {
            Poll::Ready(said) => said.expect("an answer"),
            Poll::Pending if waits => {
                // Begun anew: what was dropped may have been done.
                self.dropped(costs);
                self.world.charge(0, &charges).await
            }
            Poll::Pending => return self.dropped(costs),
        };
        let doubt = self.doubts() > before;
        for place in [0, 1, 2] {
            let passed = said.limits[place].source == Source::Failure;
            if doubt || (passed && place == 1) {
                self.known[place].unsure += costs[place];
            }
        }
        self.took(said.receipt);
    }

    /// A caller is gone: the store may have been told, of all that it counts, and nobody holds a receipt.
    fn dropped(&mut self, costs: [u64; 5]) {
        for place in [0, 1, 2] {
            self.known[place].unsure += costs[place];
        }
    }

    fn took(&mut self, receipt: Receipt) {
        for taken in receipt.taken {
            let (known, units) = (&mut self.known[taken.place], taken.charged.units);
            match taken.source {
                Source::Store => known.far += units,
                Source::Node | Source::Estimate => known.near += units,
                _ => known.unsure += units,
            }
            self.held.push(taken);
        }
    }

    async fn settle(&mut self, which: usize, units: u64) {
        if self.held.is_empty() {
            return;
        }
        let taken = self.held.swap_remove(which % self.held.len());
        let (place, source, was) = (taken.place, taken.source, taken.charged.units);
        let units = units.min(was);
        let settled = self.world.nodes[0].settle_one(taken, units, self.world.now()).await;
        let known = &mut self.known[place];
        match (source, settled) {
            (Source::Store, Ok(())) => known.far -= was - units,
            (Source::Store, Err(_)) => {
                known.far -= was - units;
                known.unsure += was - units;
            }
            (Source::Node | Source::Estimate, _) => known.near -= was - units,
            _ => {}
        }
    }

    /// How often it was not known whether the store did as it was asked.
    fn doubts(&self) -> u64 {
        self.world.errors(0, Trouble::TimedOut) + self.world.errors(0, Trouble::Disconnected)
    }

    async fn end(&self) {
        self.world.recovers().await;
        let node = &self.world.nodes[0];
        node.reconcile().await;
        assert_eq!(node.observed().unreconciled_keys, 0);
        let counted = |place| LIMIT - self.world.central.standing(place, "key").remaining;
        for place in [0, 1, 2] {
            let Known { far, unsure, .. } = self.known[place as usize];
            let counted = counted(place);
            // What is beyond the limit cannot be told from the limit.
            assert!(counted >= far.min(LIMIT), "limit {place}: {counted} of {far}");
            assert!(counted <= far + unsure, "limit {place}: {counted} of {far} and {unsure}");
        }
        let own = LIMIT - self.world.left(0, 4, "key").await;
        assert_eq!(own, self.known[4].near, "the node's own");
        assert!(node.breaker.enter(self.world.now()).is_some());
    }
}

fn poll_once<T>(future: impl Future<Output = T>) -> Poll<T> {
    pin!(future).as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_happens_the_counts_are_those_of_what_was_admitted(
        steps in prop::collection::vec(step(), 1..80),
    ) {
        run(async {
            let mut run = Run { world: world().await, known: Default::default(), held: Vec::new() };
            for step in steps {
                match step {
                    Step::Charge { costs, waits } => run.charge(costs, waits).await,
                    Step::Settle { which, units } => run.settle(which, units).await,
                    Step::Becomes(health) => run.world.central.becomes(health),
                    Step::Reconcile => run.world.nodes[0].reconcile().await,
                    Step::Report => {
                        let node = &run.world.nodes[0];
                        let held = node.limits.load().get(run.world.ids[3]).expect("a limit").clone();
                        node.report(&held).await;
                    }
                }
            }
            run.end().await;
        });
    }
}
