//! All wallets of a node: a bounded number, each of one key.

use std::collections::HashMap;
use std::hash::RandomState;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tollgate_core::{Charged, Period, Timestamp};

use super::exchange::Request;
use super::hand::Serial;
use super::loans::STORE;
use super::observed::LeaseCounters;
use super::pace::Pace;
use super::turn::{Turn, Waiting};
use super::wallet::Wallet;
use crate::memory::KeyHash;
use crate::shared::limits::Held;
use crate::{LimitId, Source, Taken, Uptime};

/// A wallet's name: the limit as the node calls it, and the key as its local store does.
pub(in crate::shared) type Owner = (LimitId, KeyHash);

/// So many wallets are locked together.
const SHARDS: usize = 64;

/// All wallets of a node.
#[derive(Debug)]
pub(in crate::shared) struct Purse {
    shards: Box<[Mutex<Shard>]>,
    /// How many wallets each limit has.
    counts: Mutex<HashMap<LimitId, usize>>,
    /// Behind every serial that was ever given.
    serials: AtomicU64,
    pub(super) counters: LeaseCounters,
}

type Shard = HashMap<Owner, Entry, RandomState>;

/// A wallet, and what goes on about it.
#[derive(Debug)]
pub(in crate::shared) struct Entry {
    pub(in crate::shared) wallet: Wallet,
    pub(in crate::shared) held: Arc<Held>,
    pub(in crate::shared) pace: Pace,
    /// The shared store's name of the key.
    pub(in crate::shared) name: u128,
    /// The last period that was asked in, of a quota.
    pub(in crate::shared) period: Option<Period>,
    pub(in crate::shared) turn: Option<Arc<Turn>>,
    pub(in crate::shared) waiting: Waiting,
}

/// A request that is to be sent, of which the wallet knows.
#[derive(Debug)]
pub(in crate::shared) struct Errand {
    pub(in crate::shared) owner: Owner,
    pub(in crate::shared) held: Arc<Held>,
    pub(in crate::shared) name: u128,
    pub(in crate::shared) period: Option<Period>,
    pub(in crate::shared) request: Request,
    pub(in crate::shared) turn: Arc<Turn>,
}

/// What goes back to the store.
#[derive(Debug, Default)]
pub(in crate::shared) struct Returns {
    /// Units on lease.
    pub(in crate::shared) errands: Vec<Errand>,
    /// Units that were taken as without leases.
    pub(in crate::shared) taken: Vec<Taken>,
}

impl Entry {
    /// What was taken for those who waited, and they came too late for: it is to be given back.
    pub(in crate::shared) fn unclaimed(&mut self, at: Uptime) -> Option<Taken> {
        let unclaimed = self.wallet.unclaimed(at);
        unclaimed.map(|unclaimed| self.taken(unclaimed))
    }

    fn taken(&self, (units, at): (u64, Timestamp)) -> Taken {
        Taken {
            place: 0,
            limit: self.held.id,
            key: self.name,
            charged: Charged { units, fraction: 0, at, ticket: STORE },
            period: self.period,
            source: Source::Lease,
        }
    }

    /// Makes an errand of a request that the wallet has drawn up.
    pub(in crate::shared) fn errand(&mut self, owner: Owner, request: Request) -> Errand {
        let turn = Arc::new(Turn::new());
        self.turn = Some(turn.clone());
        let (held, name, period) = (self.held.clone(), self.name, self.period);
        Errand { owner, held, name, period, request, turn }
    }

    fn is_idle(&mut self, at: Uptime) -> bool {
        self.turn.is_none() && self.waiting.is_empty() && self.wallet.is_idle(at, &self.pace)
    }
}

impl Purse {
    pub(in crate::shared) fn new() -> Purse {
        Purse {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            counts: Mutex::default(),
            serials: AtomicU64::new(0),
            counters: LeaseCounters::default(),
        }
    }

    fn shard(&self, owner: &Owner) -> &Mutex<Shard> {
        &self.shards[owner.1.shard(SHARDS)]
    }

    /// Does `what` with a wallet, if there is one.
    pub(in crate::shared) fn with<T>(
        &self,
        owner: &Owner,
        what: impl FnOnce(&mut Entry) -> T,
    ) -> Option<T> {
        self.shard(owner).lock().get_mut(owner).map(what)
    }

    /// Does `what` with a wallet of `held`; a new one where there is none yet, called `name()` by the shared store. `None` where
    /// the limit has as many as it may.
    #[inline]
    pub(in crate::shared) fn open<T>(
        &self,
        owner: Owner,
        held: &Arc<Held>,
        pace: Pace,
        name: impl FnOnce() -> u128,
        at: Uptime,
        what: impl FnOnce(&mut Entry) -> T,
    ) -> Option<T> {
        let mut shard = self.shard(&owner).lock();
        if let Some(entry) = shard.get_mut(&owner) {
            return Some(what(entry));
        }
        if !self.enter(held) {
            return None;
        }
        let serial = Serial(self.serials.load(Ordering::Relaxed));
        let entry = shard.entry(owner).or_insert_with(|| Entry {
            wallet: Wallet::new(serial, at),
            held: held.clone(),
            pace,
            name: name(),
            period: None,
            turn: None,
            waiting: Waiting::default(),
        });
        Some(what(entry))
    }

    fn enter(&self, held: &Held) -> bool {
        let mut counts = self.counts.lock();
        let count = counts.entry(held.id).or_default();
        let fits = *count < held.definition.max_keys;
        *count += usize::from(fits);
        fits
    }

    /// One more has gone.
    fn leave(&self, owner: &Owner, entry: &Entry) {
        self.serials.fetch_max(entry.wallet.serial().0, Ordering::Relaxed);
        let mut counts = self.counts.lock();
        if let Some(count) = counts.get_mut(&owner.0) {
            *count = count.saturating_sub(1);
        }
        counts.retain(|_, count| *count > 0);
    }

    /// Looks through one of [`Purse::parts`]: what is to be returned by now is, and wallets that are for nothing any more go.
    pub(in crate::shared) fn tidy(&self, part: usize, at: Uptime) -> Returns {
        let mut returns = Returns::default();
        self.sift(part, |owner, entry| {
            returns.taken.extend(entry.unclaimed(at));
            if let Some(request) = entry.wallet.tidy(at, &entry.pace) {
                returns.errands.push(entry.errand(*owner, request));
            }
            !entry.is_idle(at)
        });
        returns
    }

    /// Returns all that is in hand where `given_up` says so, and forgets those wallets.
    pub(in crate::shared) fn give_up(
        &self,
        at: Uptime,
        given_up: impl Fn(&mut Entry) -> bool,
    ) -> Returns {
        let mut returns = Returns::default();
        for part in 0..SHARDS {
            self.sift(part, |owner, entry| {
                if !given_up(entry) {
                    return true;
                }
                let unclaimed = entry.wallet.unclaimed_yet();
                returns.taken.extend(unclaimed.map(|unclaimed| entry.taken(unclaimed)));
                if let Some(request) = entry.wallet.give_up(0, at, &entry.pace) {
                    let turn = entry.turn.take();
                    returns.errands.push(entry.errand(*owner, request));
                    // Those who wait for another request hear that it is over.
                    turn.inspect(|turn| turn.end(None));
                }
                false
            });
        }
        returns
    }

    fn sift(&self, part: usize, mut keep: impl FnMut(&Owner, &mut Entry) -> bool) {
        let Some(shard) = self.shards.get(part) else { return };
        shard.lock().retain(|owner, entry| {
            let keeps = keep(owner, entry);
            if !keeps {
                self.leave(owner, entry);
            }
            keeps
        });
    }

    /// In how many parts it is tidied.
    pub(in crate::shared) const fn parts() -> usize {
        SHARDS
    }

    /// The requests that are on their way.
    pub(in crate::shared) fn turns(&self) -> Vec<Arc<Turn>> {
        let of = |shard: &Mutex<Shard>| -> Vec<Arc<Turn>> {
            shard.lock().values().filter_map(|entry| entry.turn.clone()).collect()
        };
        self.shards.iter().flat_map(of).collect()
    }

    /// Units in hand, of all keys.
    pub(in crate::shared) fn in_hand(&self, at: Uptime) -> u64 {
        let of = |shard: &Mutex<Shard>| -> u64 {
            shard.lock().values().map(|entry| entry.wallet.in_hand(at)).sum()
        };
        self.shards.iter().map(of).sum()
    }
}
