//! A pool of servers, and which of them is next.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::server::Server;

/// The servers of one upstream.
#[derive(Debug)]
pub(crate) struct Pool {
    servers: Vec<Arc<Server>>,
    turn: AtomicUsize,
}

impl Pool {
    pub(super) fn new(servers: Vec<Arc<Server>>) -> Pool {
        Pool { servers, turn: AtomicUsize::new(0) }
    }

    pub(super) fn len(&self) -> usize {
        self.servers.len()
    }

    /// The next server at `now` (microseconds): the one whose turn it is, or another with fewer requests on their way.
    /// Servers whose connects failed lately are passed over, unless all did. `tried` ones are not asked again.
    pub(super) fn pick(&self, now: u64, tried: &[usize]) -> Option<(usize, &Arc<Server>)> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let fresh = |place: &usize| !tried.contains(place);
        self.choose(turn, |place| fresh(&place) && self.servers[place].rested(now))
            .or_else(|| self.choose(turn, |place| fresh(&place)))
            .map(|place| (place, &self.servers[place]))
    }

    /// Of the first fit one from `turn` on and the first fit one from a scattered place on, that with less to do.
    fn choose(&self, turn: usize, fit: impl Fn(usize) -> bool) -> Option<usize> {
        let count = self.servers.len();
        let from = |start: usize| {
            (0..count).map(|step| (start % count + step) % count).find(|&place| fit(place))
        };
        let next = (count > 0).then(|| from(turn)).flatten()?;
        let other = from(scatter(turn))?;
        let busier = self.servers[next].in_flight() > self.servers[other].in_flight();
        Some(if busier { other } else { next })
    }
}

/// The finalizer of SplitMix64: a place that has nothing to do with the turn.
fn scatter(turn: usize) -> usize {
    let mut mixed = (turn as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) as usize >> 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;

    fn pool(count: usize) -> Pool {
        let metrics = Metrics::new(Vec::new);
        let server = |port| {
            let address = format!("127.0.0.1:{port}");
            Arc::new(Server::new(&address, 1, metrics.server("p", &address)))
        };
        Pool::new((0..count).map(server).collect())
    }

    #[test]
    fn idle_servers_take_turns() {
        let pool = pool(3);
        let picked: Vec<usize> =
            (0..6).filter_map(|_| pool.pick(0, &[])).map(|(place, _)| place).collect();
        assert_eq!(picked, [0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn a_failed_server_rests_and_is_asked_only_when_all_rest() {
        let pool = pool(2);
        pool.servers[0].failed(1_000);
        assert!((0..8).all(|_| pool.pick(1_001, &[]).is_some_and(|(place, _)| place == 1)));
        pool.servers[1].failed(1_000);
        assert!(pool.pick(1_001, &[]).is_some());
        assert_eq!(pool.pick(1_001, &[0]).map(|(place, _)| place), Some(1));
        assert!(pool.pick(1_001, &[0, 1]).is_none(), "all were tried");
    }

    #[test]
    fn the_busier_of_two_is_spared() {
        let pool = pool(2);
        let busy: Vec<_> = (0..10).map(|_| Server::lend(&pool.servers[0], 0)).collect();
        let spared =
            (0..1_000).filter_map(|_| pool.pick(0, &[])).filter(|(place, _)| *place == 1).count();
        assert!(spared >= 700, "{spared} of 1000 went to the idle one");
        drop(busy);
        assert_eq!(pool.servers[0].in_flight(), 0);
    }

    #[test]
    fn an_empty_pool_has_none() {
        assert!(pool(0).pick(0, &[]).is_none());
    }
}
