//! One key's wallet: what a node borrowed, how much is asked of it, and when the store is asked again.
//!
//! Pure: time is an argument, and the caller carries requests and answers.

use tollgate_core::{Limit, Micros, Period, Retry, State, Timestamp};

use super::demand::Demand;
use super::exchange::{Answer, Request};
use super::hand::{Hand, Serial};
use super::pace::{LARGEST_BATCH, LEAST_DEMAND, Pace};
use super::verdict;
use crate::Uptime;

/// The first pause before an exhausted key is asked about again while others hold units of it; each next one is twice as long.
const FIRST_RECHECK: u64 = 100_000;
/// The longest such pause.
const LAST_RECHECK: u64 = 30_000_000;
/// How long units that were taken for those who wait are theirs.
const POCKET_LIFE: Micros = Micros::new(25_000);

/// One key's wallet.
#[derive(Debug)]
pub(crate) struct Wallet {
    hand: Hand,
    pocket: Pocket,
    demand: Demand,
    asked_at: Uptime,
    asking: Option<Asking>,
    refusing: Option<Refusing>,
    /// Nobody borrows ahead before this.
    renew_from: Uptime,
    rechecks: u32,
    /// What was last borrowed at once, and how long that took.
    batch: u64,
    round_trip: u64,
    told: Option<Told>,
}

/// Taken as exactly as without leases, for those who waited.
#[derive(Clone, Copy, Debug, Default)]
struct Pocket {
    units: u64,
    until: Uptime,
    at: Timestamp,
    /// When the oldest of them were taken.
    since: Timestamp,
}

/// A request that is on its way.
#[derive(Clone, Copy, Debug)]
struct Asking {
    sent: Uptime,
    cost: u64,
    times: u64,
    want: u64,
}

/// Costs from `cost` up are refused until then.
#[derive(Clone, Copy, Debug)]
struct Refusing {
    cost: u64,
    until: Uptime,
}

/// What the store said last.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    /// The key's state as an exact charge would read it.
    pub(crate) state: State,
    /// The store's moment.
    pub(crate) now: Timestamp,
    /// When the node heard it: not before `now`.
    pub(crate) heard: Uptime,
}

impl Told {
    /// The store's moment at `at`: this or a little later.
    pub(crate) fn now_at(&self, at: Uptime) -> Timestamp {
        Timestamp::from_micros(self.now.as_micros().saturating_add(at.since(self.heard).get()))
    }
}

/// What a wallet says to a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spend {
    /// Spent from what is in hand.
    Spent(From),
    /// Refused until then, as far as is known.
    Refused(Uptime),
    /// Only the store can say.
    Ask,
}

/// Where units came from, so where they go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// Units on lease.
    Lease(Serial),
    /// Charged in the store at this moment.
    Store(Timestamp),
}

impl Wallet {
    /// An empty one, at `at`. No two wallets that one key has after each other may give the same serial.
    pub(crate) fn new(serial: Serial, at: Uptime) -> Wallet {
        Wallet {
            hand: Hand::behind(serial),
            pocket: Pocket::default(),
            demand: Demand::default(),
            asked_at: at,
            asking: None,
            refusing: None,
            renew_from: Uptime::default(),
            rechecks: 0,
            batch: 0,
            round_trip: 0,
            told: None,
        }
    }

    /// The last serial that it gave.
    pub(crate) fn serial(&self) -> Serial {
        self.hand.serial()
    }

    /// What the store said last.
    pub(crate) fn told(&self) -> Option<&Told> {
        self.told.as_ref()
    }

    /// Units that can be spent at `at`.
    pub(crate) fn in_hand(&self, at: Uptime) -> u64 {
        self.hand.unspent(at)
    }

    /// A request is on its way.
    #[cfg(test)]
    pub(crate) fn is_asking(&self) -> bool {
        self.asking.is_some()
    }

    /// Somebody asks for `cost`; told once for each request, however often it tries.
    #[inline]
    pub(crate) fn note(&mut self, cost: u64, at: Uptime, pace: &Pace) {
        self.demand.note(cost, at, pace.horizon);
        self.asked_at = at;
    }

    /// Spends `cost`, which is not 0, if it can be known here whether it passes.
    #[inline]
    pub(crate) fn spend(&mut self, cost: u64, at: Uptime) -> Spend {
        if cost <= self.pocket.units && at < self.pocket.until {
            self.pocket.units -= cost;
            return Spend::Spent(From::Store(self.pocket.at));
        }
        if let Some(serial) = self.hand.spend(cost, at) {
            return Spend::Spent(From::Lease(serial));
        }
        match self.refusing {
            Some(refusing) if refusing.cost <= cost && at < refusing.until => {
                Spend::Refused(refusing.until)
            }
            _ => Spend::Ask,
        }
    }

    /// Takes back what did not count after all. `false` where it is too late for that.
    pub(crate) fn put_back(&mut self, from: From, units: u64, at: Uptime) -> bool {
        match from {
            From::Lease(serial) => self.hand.put_back(serial, units, at),
            From::Store(_) => false,
        }
    }

    /// Whether it is time to borrow ahead: soon there will be nothing in hand.
    #[inline]
    pub(crate) fn is_low(&mut self, at: Uptime, pace: &Pace) -> bool {
        if self.asking.is_some() || at < self.renew_from {
            return false;
        }
        let hand = self.hand.unspent(at);
        if hand > self.batch {
            return false;
        }
        let demand = self.demand.expected(at, pace.horizon);
        let meanwhile = demand.saturating_mul(self.round_trip) / pace.horizon.get().max(1);
        demand >= LEAST_DEMAND && hand <= (self.batch / 4).saturating_add(meanwhile)
    }

    /// A request, with `times` who wait for `cost` each, that is sent now: at `at`, and not before. Half of what remains is
    /// for the `nodes` to share.
    pub(crate) fn ask(
        &mut self,
        cost: u64,
        times: u64,
        nodes: u64,
        at: Uptime,
        pace: &Pace,
    ) -> Request {
        let expected = self.demand.expected(at, pace.horizon);
        let ahead = self.ahead(expected, at, pace);
        let want = if expected < LEAST_DEMAND { 0 } else { ahead.min(LARGEST_BATCH) };
        self.asking = Some(Asking { sent: at, cost, times, want });
        let reports = self.hand.report(u64::MAX, pace.takes_late, at);
        Request { reports, cost, times, want, parts: nodes.max(1).saturating_mul(2) }
    }

    /// What `expected` needs beyond what is in hand; less where the term will end before that.
    fn ahead(&self, expected: u64, at: Uptime, pace: &Pace) -> u64 {
        let left = self.hand.until().map(|until| until.since(at)).filter(|left| left.get() > 0);
        let share = left.map_or(pace.horizon, |left| left.min(pace.horizon)).get();
        let needed =
            u128::from(expected) * u128::from(share) / u128::from(pace.horizon.get().max(1));
        u64::try_from(needed).unwrap_or(u64::MAX).saturating_sub(self.hand.unspent(at))
    }

    /// The answer has come; what is [unclaimed](Wallet::unclaimed) was asked for before. `period` is the one around the store's moment, for a quota.
    pub(crate) fn receive(
        &mut self,
        answer: Answer,
        period: Option<Period>,
        at: Uptime,
        limit: &Limit,
        pace: &Pace,
    ) {
        let Some(asking) = self.asking.take() else { return };
        self.round_trip = at.since(asking.sent).get();
        if answer.lent > 0 {
            let until = asking.sent.plus(Pace::life(answer.lasts));
            self.hand.put(answer.term, until, answer.lent);
            self.batch = answer.lent;
        }
        self.pocket(answer.taken.saturating_mul(asking.cost), answer.now, at);
        if answer.taken < asking.times {
            self.refuse(&asking, &answer, period, at, limit, pace);
        } else if asking.times > 0 || asking.want > 0 {
            self.slow_down(&asking, &answer, at, pace);
        }
        self.told = Some(Told { state: answer.state, now: answer.now, heard: at });
    }

    /// Those who wait may not all have come for the last when the next arrives.
    fn pocket(&mut self, units: u64, taken: Timestamp, at: Uptime) {
        if units > 0 {
            let before = if at < self.pocket.until { self.pocket } else { Pocket::default() };
            let since = if before.units > 0 { before.since.min(taken) } else { taken };
            let units = units.saturating_add(before.units);
            self.pocket = Pocket { units, until: at.plus(POCKET_LIFE), at: taken, since };
        }
    }

    /// What was taken for those who waited, at `at` is not theirs any more, and has to be given back to the store: how much,
    /// and when it was taken there at the earliest.
    pub(crate) fn unclaimed(&mut self, at: Uptime) -> Option<(u64, Timestamp)> {
        (at >= self.pocket.until).then(|| self.unclaimed_yet()).flatten()
    }

    /// The same, as if nobody waited any more.
    pub(crate) fn unclaimed_yet(&mut self) -> Option<(u64, Timestamp)> {
        let units = std::mem::take(&mut self.pocket.units);
        (units > 0).then_some((units, self.pocket.since))
    }

    /// The store has not enough for all who waited: the same is refused here until it can have.
    fn refuse(
        &mut self,
        asking: &Asking,
        answer: &Answer,
        period: Option<Period>,
        at: Uptime,
        limit: &Limit,
        pace: &Pace,
    ) {
        let mut wait =
            match verdict::ask(limit, &answer.state, asking.cost, period, answer.now).retry {
                Retry::After(wait) => wait.get(),
                Retry::Never => u64::MAX,
            };
        if answer.out {
            // Others may return what they hold long before.
            let recheck = FIRST_RECHECK.saturating_mul(1 << self.rechecks.min(20));
            wait = wait.min(recheck.min(LAST_RECHECK));
            self.rechecks = self.rechecks.saturating_add(1);
        }
        let until = at.plus(Micros::new(wait.max(pace.pause.get())));
        self.refusing = Some(Refusing { cost: asking.cost, until });
        self.renew_from = until;
    }

    /// Where the store lends less than is wanted, many want it: the next answer is worth more if it is asked for later.
    fn slow_down(&mut self, asking: &Asking, answer: &Answer, at: Uptime, pace: &Pace) {
        (self.refusing, self.rechecks) = (None, 0);
        if asking.want == 0 || answer.lent >= asking.want {
            self.renew_from = at;
        } else if answer.lent == 0 {
            self.renew_from = at.plus(pace.horizon);
        } else if pace.refills {
            let until = asking.sent.plus(pace.pause);
            self.renew_from = until;
            self.refusing = Some(Refusing { cost: 1, until });
        } else {
            self.renew_from = at;
        }
    }

    /// There will be no answer. What the request reported is reported, and what it borrowed is nobody's.
    pub(crate) fn fail(&mut self, at: Uptime) {
        self.asking = None;
        self.renew_from = at.plus(Micros::new(FIRST_RECHECK));
    }

    /// What is to be returned by now without anybody asking for it: all that lies idle, what is far beyond the demand, and
    /// what was spent by those who have gone quiet. A request that borrows nothing.
    pub(crate) fn tidy(&mut self, at: Uptime, pace: &Pace) -> Option<Request> {
        if self.asking.is_some() {
            return None;
        }
        let idle = at.since(self.asked_at) >= pace.horizon;
        let keep = if idle { 0 } else { 2 * self.demand.expected(at, pace.horizon) };
        let surplus = self.hand.unspent(at).saturating_sub(keep);
        let spent_by_the_quiet = idle && !self.hand.is_empty();
        if surplus == 0 && !spent_by_the_quiet {
            return None;
        }
        self.give_up(keep, at, pace)
    }

    /// Returns all but `keep` units.
    pub(crate) fn give_up(&mut self, keep: u64, at: Uptime, pace: &Pace) -> Option<Request> {
        let reports = self.hand.report(keep, pace.takes_late, at);
        if reports.is_empty() {
            return None;
        }
        self.asking = Some(Asking { sent: at, cost: 0, times: 0, want: 0 });
        Some(Request::of(reports))
    }

    /// Forgetting it would lose nothing.
    pub(crate) fn is_idle(&mut self, at: Uptime, pace: &Pace) -> bool {
        let refusing = self.refusing.is_some_and(|refusing| at < refusing.until);
        self.asking.is_none()
            && !refusing
            && self.pocket.units == 0
            && self.hand.is_empty()
            && self.demand.expected(at, pace.horizon) == 0
    }
}
