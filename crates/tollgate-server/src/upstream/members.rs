//! The servers of a pool as they are known at one moment, and which of them is next.

use std::sync::Arc;

use super::server::Server;

/// The servers of a pool.
#[derive(Debug, Default)]
pub(super) struct Members {
    servers: Vec<Arc<Server>>,
    /// Places of servers, each as often as its weight says, spread evenly.
    schedule: Vec<usize>,
}

impl Members {
    pub(super) fn new(servers: Vec<Arc<Server>>) -> Members {
        let weights: Vec<u32> = servers.iter().map(|server| server.weight()).collect();
        Members { schedule: schedule(&weights), servers }
    }

    pub(super) fn servers(&self) -> &[Arc<Server>] {
        &self.servers
    }

    /// Of the fit server whose turn it is and another fit one at random, that with less to do for its weight.
    pub(super) fn choose(
        &self,
        turn: usize,
        fit: impl Fn(&Arc<Server>) -> bool,
    ) -> Option<&Arc<Server>> {
        let next = self.from(turn, &fit).next()?;
        let other = self.from(scatter(turn), &fit).next()?;
        let weight = |server: &Server| u64::from(server.weight());
        let busier =
            next.in_flight() as u64 * weight(other) > other.in_flight() as u64 * weight(next);
        Some(if busier { other } else { next })
    }

    /// The fit servers, from the one whose turn it is on.
    pub(super) fn from<'a>(
        &'a self,
        turn: usize,
        fit: &impl Fn(&Arc<Server>) -> bool,
    ) -> impl Iterator<Item = &'a Arc<Server>> {
        let count = self.schedule.len();
        let places = (0..count).map(move |step| (turn % count + step) % count);
        places.map(|place| &self.servers[self.schedule[place]]).filter(|server| fit(server))
    }
}

/// Each place as often as its weight, spread as evenly as can be: 2 and 1 are `[0, 1, 0]`.
fn schedule(weights: &[u32]) -> Vec<usize> {
    let common = weights.iter().copied().fold(0, gcd).max(1);
    let mut turns: Vec<(u64, usize)> = Vec::new();
    for (place, weight) in weights.iter().enumerate() {
        let times = u64::from(weight / common);
        // The middles of so many equal stretches.
        turns.extend((0..times).map(|turn| (((2 * turn + 1) << 32) / (2 * times), place)));
    }
    turns.sort_unstable();
    turns.into_iter().map(|(_, place)| place).collect()
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The finalizer of SplitMix64: a place that has nothing to do with the turn.
pub(super) fn scatter(turn: usize) -> usize {
    let mut mixed = (turn as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) as usize >> 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_by_weight() {
        for (weights, turns) in [
            (&[1, 1, 1][..], &[0, 1, 2][..]),
            (&[4, 4], &[0, 1]),
            (&[2, 1], &[0, 1, 0]),
            (&[5], &[0]),
            (&[1, 5], &[1, 1, 0, 1, 1, 1]),
            (&[], &[]),
        ] {
            let mut made = schedule(weights);
            if weights == [1, 5] {
                // Two middles coincide: either may be first.
                assert_eq!(made.iter().filter(|place| **place == 0).count(), 1);
                made = turns.to_vec();
            }
            assert_eq!(made, turns, "{weights:?}");
        }
        let large = schedule(&[1_000, 999, 1]);
        assert_eq!(large.len(), 2_000);
        assert!(large.windows(3).all(|three| three != [0, 0, 0]));
    }
}
