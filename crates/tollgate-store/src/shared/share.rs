//! A node's part of a limit.

use std::num::NonZeroU32;

use tollgate_core::{
    Algorithm, Burst, Concurrency, FixedWindow, LeakyBucket, Limit, Micros, Quota, Rate, Rules,
    SlidingLog, SlidingWindow, TokenBucket,
};

/// Which part of a limit is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Among how many nodes it is divided.
    pub(super) nodes: NonZeroU32,
    /// Who has what does not divide.
    pub(super) rest: Rest,
}

/// Who has the units that are left over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// The nodes of the lowest ranks one each, so that all parts together are the whole. This is the node's rank, from 0.
    ByRank(u32),
    /// Every node one: less than a unit a node more than the whole.
    Everybody,
}

impl Part {
    /// The part of `limit`: its units divided, its rate exactly. What is left of a burst beyond whole units is nobody's.
    /// Where not even a unit is left for this node, the part admits nothing.
    pub(super) fn of(self, limit: &Limit) -> Limit {
        if self.nodes == NonZeroU32::MIN {
            return limit.clone();
        }
        let rules = Rules {
            max_debt: limit.rules().max_debt.map(|debt| debt.div_ceil(self.divisor())),
            ..limit.rules().clone()
        };
        // A part may take so long to fill that it cannot be told any more; it then admits nothing.
        Limit::new(self.algorithm(limit), rules.clone())
            .or_else(|_| Limit::new(closed(), rules))
            .unwrap_or_else(|_| limit.clone())
    }

    fn algorithm(self, whole: &Limit) -> Algorithm {
        match whole.algorithm() {
            Algorithm::TokenBucket(TokenBucket { rate, empty_at, .. }) => {
                let burst = Burst::Units(self.units(whole.capacity()));
                let empty_at = *empty_at;
                Algorithm::TokenBucket(TokenBucket { rate: self.rate(*rate), burst, empty_at })
            }
            Algorithm::LeakyBucket(bucket) => self.leaky(bucket),
            Algorithm::FixedWindow(FixedWindow { limit, window }) => {
                let (limit, window) = (self.units(*limit), *window);
                Algorithm::FixedWindow(FixedWindow { limit, window })
            }
            Algorithm::SlidingWindow(SlidingWindow { limit, window, cells }) => {
                let (limit, window, cells) = (self.units(*limit), *window, *cells);
                Algorithm::SlidingWindow(SlidingWindow { limit, window, cells })
            }
            Algorithm::SlidingLog(SlidingLog { limit, window }) => {
                let (limit, window) = (self.units(*limit), *window);
                Algorithm::SlidingLog(SlidingLog { limit, window })
            }
            Algorithm::Quota(Quota { limit }) => {
                Algorithm::Quota(Quota { limit: self.units(*limit) })
            }
            Algorithm::Concurrency(Concurrency { limit, ttl }) => {
                let (limit, ttl) = (self.units(*limit), *ttl);
                Algorithm::Concurrency(Concurrency { limit, ttl })
            }
        }
    }

    fn leaky(self, whole: &LeakyBucket) -> Algorithm {
        // The one being served is a unit like those that wait behind it.
        let Some(burst) = self.units(whole.burst.saturating_add(1)).checked_sub(1) else {
            return closed();
        };
        Algorithm::LeakyBucket(LeakyBucket {
            rate: self.rate(whole.rate),
            burst,
            nodelay: whole.nodelay,
            max_wait: whole.max_wait,
        })
    }

    fn divisor(self) -> u64 {
        u64::from(self.nodes.get())
    }

    fn units(self, whole: u64) -> u64 {
        let (each, left) = (whole / self.divisor(), whole % self.divisor());
        let more = match self.rest {
            Rest::ByRank(rank) => u64::from(rank) < left,
            Rest::Everybody => left > 0,
        };
        each + u64::from(more)
    }

    /// As many units in a span that is longer, so that nothing is rounded.
    fn rate(self, whole: Rate) -> Rate {
        match whole.per.get().checked_mul(self.divisor()) {
            Some(per) => Rate { count: whole.count, per: Micros::new(per) },
            None => Rate { count: whole.count / self.divisor(), per: whole.per },
        }
    }
}

/// What admits nothing.
pub(super) fn closed() -> Algorithm {
    let rate = Rate { count: 0, per: Micros::from_secs(1) };
    Algorithm::TokenBucket(TokenBucket { rate, burst: Burst::Units(0), empty_at: None })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tollgate_core::{Asked, Outcome, Period, State, Timestamp, step};

    use super::*;

    fn part(nodes: u32, rest: Rest) -> Part {
        Part { nodes: NonZeroU32::new(nodes).expect("a node"), rest }
    }

    /// How many single units a fresh key is given at one moment, and one span later.
    fn admitted(limit: &Limit, later: u64) -> u64 {
        let mut state = State::Fresh;
        let period = Some(Period {
            start: Timestamp::EPOCH,
            end: Timestamp::from_micros(1_000_000_000_000),
        });
        let mut admitted = 0;
        for (ticket, now) in [1_000_000, 1_000_000 + later].into_iter().enumerate() {
            loop {
                let now = Timestamp::from_micros(now);
                let mut asked = [Asked { limit, state: &mut state, cost: 1, period }];
                let mut outcomes = [Outcome::default()];
                let ticket = admitted * 2 + ticket as u64;
                if !step(&mut asked, now, ticket, None, &mut outcomes).admitted {
                    break;
                }
                admitted += 1;
            }
        }
        admitted
    }

    fn algorithms(units: u64, per: u64) -> Vec<Algorithm> {
        let (window, rate) = (Micros::new(per * 60), Rate { count: units, per: Micros::new(per) });
        let bucket = |burst| Algorithm::TokenBucket(TokenBucket { rate, burst, empty_at: None });
        vec![
            bucket(Burst::Units(units)),
            bucket(Burst::Span(Micros::new(per / 3))),
            Algorithm::LeakyBucket(LeakyBucket {
                rate,
                burst: units,
                nodelay: true,
                max_wait: None,
            }),
            Algorithm::FixedWindow(FixedWindow { limit: units, window }),
            Algorithm::SlidingWindow(SlidingWindow { limit: units, window, cells: 1 }),
            Algorithm::SlidingWindow(SlidingWindow { limit: units, window, cells: 6 }),
            Algorithm::SlidingLog(SlidingLog { limit: units, window }),
            Algorithm::Quota(Quota { limit: units }),
            Algorithm::Concurrency(Concurrency { limit: units, ttl: window }),
        ]
    }

    proptest! {
        #[test]
        fn all_parts_together_are_never_more_than_the_whole(
            units in 0u64..60, per in 1u64..5_000_000, nodes in 1u32..9, later in 0u64..5_000_000,
        ) {
            for algorithm in algorithms(units, per) {
                let whole = Limit::new(algorithm, Rules::default()).expect("a limit");
                let sum: u64 = (0..nodes)
                    .map(|rank| admitted(&part(nodes, Rest::ByRank(rank)).of(&whole), later))
                    .sum();
                let most = admitted(&whole, later);
                prop_assert!(sum <= most, "{nodes} nodes admit {sum} of {most}: {whole:?}");
                // What is refused is less than a unit a node: a refill that only fills up one node's part.
                prop_assert!(sum + 2 * u64::from(nodes) >= most, "only {sum} of {most}: {whole:?}");
            }
        }

        #[test]
        fn rounded_up_is_less_than_a_unit_a_node_more(units in 0u64..60, nodes in 1u32..9) {
            for algorithm in algorithms(units, 1_000_000) {
                let whole = Limit::new(algorithm, Rules::default()).expect("a limit");
                let each = admitted(&part(nodes, Rest::Everybody).of(&whole), 0);
                let (sum, whole) = (each * u64::from(nodes), admitted(&whole, 0));
                prop_assert!(sum >= whole && sum < whole + u64::from(nodes));
            }
        }
    }

    #[test]
    fn what_does_not_divide_goes_to_the_lowest_ranks() {
        let window = Micros::from_secs(60);
        let ten = Algorithm::FixedWindow(FixedWindow { limit: 10, window });
        let ten = Limit::new(ten, Rules::default()).expect("a limit");
        let parts = |rank| admitted(&part(3, Rest::ByRank(rank)).of(&ten), 0);
        assert_eq!([0, 1, 2].map(parts), [4, 3, 3]);
        assert_eq!(admitted(&part(3, Rest::Everybody).of(&ten), 0), 4);
    }

    #[test]
    fn a_part_that_would_take_centuries_to_fill_admits_nothing() {
        let rate = Rate { count: 1, per: Micros::from_secs(86_400 * 365 * 100) };
        let burst = Burst::Units(1);
        let slow = Algorithm::TokenBucket(TokenBucket { rate, burst, empty_at: None });
        let slow = Limit::new(slow, Rules::default()).expect("a limit");
        assert_eq!(admitted(&part(1000, Rest::ByRank(0)).of(&slow), 0), 0);
    }
}
