//! Random limits, times and costs, from a seed that a failure prints.

use tollgate_core::{
    Algorithm, Burst, Concurrency, FixedWindow, LeakyBucket, Limit, Micros, Quota, Rate, Rules,
    SlidingLog, SlidingWindow, TokenBucket,
};

use crate::behaviour::world::at;

/// SplitMix64.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

const SECOND: u64 = 1_000_000;
const YEAR: u64 = 365 * 86_400 * SECOND;

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to but not including `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// A limit of any algorithm, under any rules that go with it.
    pub(crate) fn limit(&mut self) -> Limit {
        loop {
            let algorithm = self.algorithm();
            let rules = self.rules();
            if let Ok(limit) = Limit::new(algorithm, rules)
                && tollgate_store::RedisStore::check(&limit).is_ok()
            {
                return limit;
            }
        }
    }

    fn rules(&mut self) -> Rules {
        let overdraw = self.once_in(4);
        let debt = self.pick(&[0, 1, 3, 50]);
        Rules {
            count_refused: self.once_in(4),
            overdraw,
            max_debt: (overdraw && self.once_in(2)).then_some(debt),
            shadow: self.once_in(6),
        }
    }

    fn rate(&mut self) -> Rate {
        let per = [1, 7, 1000, SECOND, 3 * SECOND, 60 * SECOND, 86_400 * SECOND, YEAR];
        let count = [1, 2, 3, 7, 60, 700, 999_999_937, 1_000_000_000];
        let (count, per) = (self.pick(&count), Micros::new(self.pick(&per)));
        let none = self.once_in(60);
        Rate { count: if none { 0 } else { count }, per }
    }

    fn algorithm(&mut self) -> Algorithm {
        let limit = self.pick(&[0, 1, 2, 3, 5, 5, 8, 8, 13, 40]);
        let window = Micros::new(self.pick(&[60, 6_000, 60_000, 6 * SECOND, 60 * SECOND, YEAR]));
        match self.below(9) {
            0 | 1 => {
                let rate = self.rate();
                let span = Micros::new(self.pick(&[1, 999, 2 * SECOND, 61 * SECOND]));
                let burst = if self.once_in(3) { Burst::Span(span) } else { Burst::Units(limit) };
                let empty = self.pick(&[0, 1, 10 * SECOND]);
                let empty_at = self.once_in(5).then_some(at(empty));
                Algorithm::TokenBucket(TokenBucket { rate, burst, empty_at })
            }
            2 => {
                let wait = self.pick(&[0, 1, 1500, SECOND, 60 * SECOND]);
                let max_wait = (!self.once_in(3)).then_some(Micros::new(wait));
                let (rate, nodelay) = (self.rate(), self.once_in(3));
                Algorithm::LeakyBucket(LeakyBucket { rate, burst: limit, nodelay, max_wait })
            }
            3 => Algorithm::FixedWindow(FixedWindow { limit, window }),
            4 => {
                // So many that products leave a double.
                let limit = if self.once_in(3) { (1 << 40) + limit } else { limit };
                Algorithm::SlidingWindow(SlidingWindow { limit, window, cells: 1 })
            }
            5 => {
                let cells = self.pick(&[2, 3, 6]);
                Algorithm::SlidingWindow(SlidingWindow { limit, window, cells })
            }
            6 => Algorithm::SlidingLog(SlidingLog { limit, window }),
            7 => Algorithm::Quota(Quota { limit }),
            _ => Algorithm::Concurrency(Concurrency { limit, ttl: window }),
        }
    }

    /// How far the clock goes, in microseconds: bursts, gaps of every size, and steps back.
    pub(crate) fn step(&mut self) -> i64 {
        let size = self.pick(&[1, 10, 1000, 100_000, SECOND, 60 * SECOND, 86_400 * SECOND]);
        let size = 1 + self.below(size) as i64;
        match self.below(12) {
            0..=5 => 0,
            6..=9 => size,
            10 => self.below(3 * SECOND) as i64,
            _ => -size,
        }
    }

    pub(crate) fn cost(&mut self) -> u64 {
        match self.below(40) {
            0 => u64::MAX,
            1 => 1 << 39,
            2 => 1 << 40,
            _ => self.below(6),
        }
    }
}
