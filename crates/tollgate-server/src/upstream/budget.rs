//! How many retries there may be, so that they cannot multiply an outage: over any span at most a share of its requests, and a
//! few a second besides (of which ten seconds' worth may be saved up).

use std::sync::atomic::{AtomicU64, Ordering};

use tollgate_policy::settings::Retries;

/// What a retry costs: requests pay in per cent of it.
const RETRY: u64 = 100;

/// So many seconds of the floor may be saved up.
const SAVED: u64 = 10;

/// The budget of a pool, over all threads.
#[derive(Debug)]
pub(super) struct Budget {
    /// In hundredths of a retry.
    balance: AtomicU64,
    /// Up to when the floor was paid in, in microseconds.
    paid_until: AtomicU64,
    share: u64,
    floor: u64,
    most: u64,
}

impl Budget {
    pub(super) fn new(retries: &Retries, now: u64) -> Budget {
        let floor = u64::from(retries.floor) * RETRY;
        // Without a floor a share needs some room all the same.
        let most = (floor * SAVED).max(if retries.share > 0 { SAVED * RETRY } else { 0 });
        Budget {
            balance: AtomicU64::new(floor * SAVED),
            paid_until: AtomicU64::new(now),
            share: u64::from(retries.share),
            floor,
            most,
        }
    }

    /// A request came.
    pub(super) fn request(&self) {
        // A full budget, which is the usual one, is only read.
        if self.share > 0 && self.balance.load(Ordering::Relaxed) < self.most {
            self.pay(self.share);
        }
    }

    /// Takes a retry at `now` out of it, where there is one.
    pub(super) fn take(&self, now: u64) -> bool {
        self.pay_floor(now);
        let order = Ordering::Relaxed;
        self.balance.fetch_update(order, order, |balance| balance.checked_sub(RETRY)).is_ok()
    }

    fn pay_floor(&self, now: u64) {
        let since = self.paid_until.load(Ordering::Relaxed);
        let due = now.saturating_sub(since).saturating_mul(self.floor) / 1_000_000;
        if due == 0 {
            return;
        }
        // What was rounded off stays due.
        let until = since.saturating_add(due.saturating_mul(1_000_000) / self.floor);
        let order = Ordering::Relaxed;
        if self.paid_until.compare_exchange(since, until, order, order).is_ok() {
            self.pay(due);
        }
    }

    fn pay(&self, hundredths: u64) {
        let order = Ordering::Relaxed;
        let most = self.most;
        let _ = self.balance.fetch_update(order, order, |balance| {
            (balance < most).then(|| balance.saturating_add(hundredths).min(most))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(share: u8, floor: u32) -> Budget {
        Budget::new(&Retries { share, floor, ..Retries::default() }, 0)
    }

    fn taken(budget: &Budget, now: u64) -> usize {
        (0..10_000).take_while(|_| budget.take(now)).count()
    }

    #[test]
    fn a_share_of_the_requests() {
        let budget = budget(20, 0);
        assert_eq!(taken(&budget, 0), 0, "nothing was asked yet");
        for _ in 0..25 {
            budget.request();
        }
        assert_eq!((taken(&budget, 0), taken(&budget, 60_000_000)), (5, 0));
    }

    #[test]
    fn a_few_a_second_besides() {
        let budget = budget(0, 3);
        assert_eq!(taken(&budget, 0), 30, "ten seconds' worth at the start");
        assert_eq!(taken(&budget, 1_000_000), 3);
        assert_eq!(taken(&budget, 1_100_000), 0);
        assert_eq!(taken(&budget, 3_600_000_000), 30, "no more is saved up");
    }

    #[test]
    fn an_outage_is_not_multiplied() {
        let budget = budget(20, 10);
        let (mut retries, seconds, rate) = (0_u64, 60, 1_000);
        for request in 0..seconds * rate {
            budget.request();
            retries += u64::from(budget.take(request * 1_000_000 / rate));
        }
        let most = seconds * rate / 5 + (seconds + SAVED) * 10;
        assert!(retries <= most && retries > most * 9 / 10, "{retries} of {most}");
    }

    #[test]
    fn none_at_all() {
        let budget = budget(0, 0);
        budget.request();
        assert_eq!(taken(&budget, 10_000_000), 0);
    }
}
