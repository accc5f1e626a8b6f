//! A node of the simulated world: the production wallet, driven as the node drives it, without tasks.

use std::collections::VecDeque;

use tollgate_core::Limit;

use super::super::exchange::Request;
use super::super::hand::Serial;
use super::super::pace::Pace;
use super::super::wallet::{From, Spend, Wallet};
use crate::Uptime;

/// How long a request waits for an answer, in microseconds of the world's time.
pub(crate) const BUDGET: u64 = 20_000;

/// One node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) wallet: Wallet,
    pub(crate) waiting: VecDeque<Waiter>,
    pub(crate) alive: bool,
    /// It does nothing before this.
    pub(crate) paused_until: u64,
    /// The exchange that is under way, by number.
    pub(crate) exchange: Option<u64>,
    /// By how much its clock runs faster than the world's, in parts of a million.
    drift: i64,
    /// How long it had been up when the world began.
    offset: u64,
}

/// A request that waits for the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiter {
    pub(crate) cost: u64,
    pub(crate) since: u64,
}

/// What a node does about a request.
#[derive(Debug)]
pub(crate) enum Act {
    Admit(From),
    Refuse,
    /// It waits, and this is to be sent if it is the first to.
    Wait(Option<Request>),
}

impl Node {
    pub(crate) fn new(offset: u64, drift: i64) -> Node {
        let wallet = Wallet::new(Serial(0), Uptime::from_micros(offset));
        let waiting = VecDeque::new();
        Node { wallet, waiting, alive: true, paused_until: 0, exchange: None, drift, offset }
    }

    /// The node's own clock at the world's `now`.
    pub(crate) fn at(&self, now: u64) -> Uptime {
        let drifted = i128::from(now) * i128::from(self.drift) / 1_000_000;
        Uptime::from_micros((i128::from(self.offset) + i128::from(now) + drifted) as u64)
    }

    /// A request tries; it may have tried before.
    pub(crate) fn attempt(&mut self, waiter: Waiter, now: u64, nodes: u64, pace: &Pace) -> Act {
        let at = self.at(now);
        match self.wallet.spend(waiter.cost, at) {
            Spend::Spent(from) => Act::Admit(from),
            Spend::Refused(_) => Act::Refuse,
            Spend::Ask if now.saturating_sub(waiter.since) > BUDGET => Act::Refuse,
            Spend::Ask => {
                self.waiting.push_back(waiter);
                let first = !self.wallet.is_asking();
                let same = self.waiting.iter().filter(|other| other.cost == waiter.cost).count();
                Act::Wait(first.then(|| self.wallet.ask(waiter.cost, same as u64, nodes, at, pace)))
            }
        }
    }

    /// A request to borrow ahead, if it is time.
    pub(crate) fn renew(&mut self, now: u64, nodes: u64, pace: &Pace) -> Option<Request> {
        let at = self.at(now);
        self.wallet.is_low(at, pace).then(|| self.wallet.ask(0, 0, nodes, at, pace))
    }

    /// It died and came back with nothing.
    pub(crate) fn restart(&mut self, now: u64, _: &Limit) {
        let at = self.at(now);
        self.wallet = Wallet::new(self.wallet.serial(), at);
        self.waiting.clear();
        (self.alive, self.exchange) = (true, None);
    }
}
