//! Units that were taken in the store for those who waited, and nobody came for in time.

use tollgate_core::{Algorithm, FixedWindow, Limit, Micros, Rules, State, Timestamp};

use super::super::exchange::Answer;
use super::super::hand::Serial;
use super::super::pace::Pace;
use super::super::wallet::{From, Spend, Wallet};
use crate::Uptime;

/// The longest that they are theirs, in microseconds.
const LIFE: u64 = 25_000;

fn at(micros: u64) -> Uptime {
    Uptime::from_micros(1_000_000 + micros)
}

fn store(micros: u64) -> Timestamp {
    Timestamp::from_micros(50_000_000 + micros)
}

/// A wallet whose `times` waiters, of 2 units each, were taken for at each of `moments`.
fn taken(times: u64, moments: &[u64]) -> Wallet {
    let spec = FixedWindow { limit: 1_000, window: Micros::from_secs(60) };
    let limit = Limit::new(Algorithm::FixedWindow(spec), Rules::default()).expect("a limit");
    let pace = Pace::of(&limit).expect("it can be leased");
    let mut wallet = Wallet::new(Serial(0), at(0));
    for moment in moments {
        wallet.ask(2, times, 1, at(*moment), &pace);
        let answer = Answer {
            now: store(*moment),
            taken: times,
            lent: 0,
            term: 0,
            lasts: Micros::ZERO,
            out: false,
            state: State::Count { start: 0, count: 0 },
        };
        wallet.receive(answer, None, at(*moment), &limit, &pace);
    }
    wallet
}

#[test]
fn what_nobody_came_for_is_given_back_once_and_not_spent() {
    let mut wallet = taken(3, &[0]);
    assert_eq!(wallet.spend(2, at(10)), Spend::Spent(From::Store(store(0))));
    assert_eq!(wallet.unclaimed(at(LIFE - 1)), None, "they are still waited for");
    assert_eq!(wallet.spend(2, at(LIFE)), Spend::Ask);
    assert_eq!(wallet.unclaimed(at(LIFE)), Some((4, store(0))));
    assert_eq!(wallet.unclaimed(at(LIFE)), None);
}

#[test]
fn what_was_taken_at_several_moments_counts_from_the_first() {
    let mut wallet = taken(1, &[0, 10_000]);
    assert_eq!(wallet.unclaimed(at(10_000 + LIFE - 1)), None);
    assert_eq!(wallet.unclaimed(at(10_000 + LIFE)), Some((4, store(0))));
}

#[test]
fn what_is_over_is_not_made_good_by_what_comes_next() {
    let mut wallet = taken(1, &[0, LIFE]);
    assert_eq!(wallet.unclaimed_yet(), Some((2, store(LIFE))));
}

#[test]
fn a_wallet_that_owes_something_is_not_forgotten() {
    let spec = FixedWindow { limit: 1_000, window: Micros::from_secs(60) };
    let limit = Limit::new(Algorithm::FixedWindow(spec), Rules::default()).expect("a limit");
    let pace = Pace::of(&limit).expect("it can be leased");
    let (mut wallet, later) = (taken(1, &[0]), at(600_000_000));
    assert!(!wallet.is_idle(later, &pace));
    wallet.unclaimed(later);
    assert!(wallet.is_idle(later, &pace));
}
