//! Why each rule of the algorithm is there: what happens at one instant without it.

use tollgate_core::{
    Algorithm, Burst, FixedWindow, Limit, Micros, Rate, Rules, Timestamp, TokenBucket,
};

use super::super::exchange::{Answer, Report, Reports, Request};
use super::super::hand::Serial;
use super::super::pace::Pace;
use super::super::wallet::{Spend, Wallet};
use super::model::{Fault, LeasedKey};
use super::world::START;
use crate::Uptime;

/// Borrows as much as there is, up to `want`.
fn borrow(want: u64) -> Request {
    Request { want, ..Request::nothing() }
}

fn report(term: u64, unspent: u64, spent: u64) -> Request {
    let reports = Reports::from_slice(&[Report { term, unspent, spent }]);
    Request::of(reports)
}

/// A bucket of 100 that fills in a quarter of a second, of which 50 are lent for at least 300 ms.
fn lent(fault: Fault) -> (LeasedKey, Answer) {
    let rate = Rate { count: 400, per: Micros::from_secs(1) };
    let spec = TokenBucket { rate, burst: Burst::Units(100), empty_at: None };
    let limit = Limit::new(Algorithm::TokenBucket(spec), Rules::default()).expect("a valid limit");
    let mut key = LeasedKey::new(limit, Micros::new(300_000), fault);
    let answer = key.exchange(&borrow(50), START, None);
    (key, answer)
}

fn window_of_100() -> Limit {
    let spec = FixedWindow { limit: 100, window: Micros::from_secs(60) };
    Limit::new(Algorithm::FixedWindow(spec), Rules::default()).expect("a valid limit")
}

/// A bucket that has filled up again holds less by what is out.
#[test]
fn leases_and_a_refilled_bucket_never_meet() {
    let admitted_at_once = |fault| {
        let (mut key, answer) = lent(fault);
        answer.lent + key.remaining(START + 250_000, None)
    };
    assert_eq!(admitted_at_once(Fault::None), 100, "one burst");
    assert_eq!(admitted_at_once(Fault::CapacityNotReduced), 150);
}

/// All that was lent is spent in a generation's last moment, while nobody spoke to the store since it was lent.
#[test]
fn what_is_out_at_the_end_of_its_generation_was_spent_at_it() {
    let admitted_at_the_end = |fault| {
        let (mut key, answer) = lent(fault);
        answer.lent + key.remaining(START + answer.lasts.get(), None)
    };
    assert_eq!(admitted_at_the_end(Fault::None), 100, "one burst");
    assert_eq!(admitted_at_the_end(Fault::EndWithoutClamp), 150);
}

/// What a report brings back too late has been filled up since.
#[test]
fn a_report_of_a_generation_that_ended_gives_nothing_back() {
    let admitted_at_once = |fault| {
        let (mut key, answer) = lent(fault);
        let late = START + answer.lasts.get() + 300_000;
        assert!(!key.charge(100, late, None).refused, "the bucket is full again");
        key.exchange(&report(answer.term, 50, 0), late, None);
        100 + key.remaining(late, None)
    };
    assert_eq!(admitted_at_once(Fault::None), 100, "one burst");
    assert_eq!(admitted_at_once(Fault::LateCredit), 150);
}

/// Why a report that was not answered is never sent again.
#[test]
fn a_report_that_is_heard_twice_gives_back_what_others_hold() {
    let left_after = |reports: usize| {
        let mut key = LeasedKey::new(window_of_100(), Micros::from_secs(2), Fault::None);
        let mine = key.exchange(&borrow(50), START, None);
        let others = key.exchange(&borrow(50), START, None);
        for _ in 0..reports {
            key.exchange(&report(mine.term, 30, 20), START, None);
        }
        20 + others.lent + key.remaining(START, None)
    };
    assert_eq!(left_after(1), 100);
    assert_eq!(left_after(2), 130, "more than the limit");
}

/// The answer took long: what the store said ends in ten seconds ends ten seconds after the request was sent.
#[test]
fn a_lease_lives_from_the_sending_of_its_request() {
    let limit = window_of_100();
    let pace = Pace::of(&limit).expect("a limit that can be leased");
    let (sent, received) = (Uptime::from_micros(1_000_000), Uptime::from_micros(1_900_000));
    let mut wallet = Wallet::new(Serial(0), sent);
    (0..8).for_each(|_| wallet.note(1, sent, &pace));
    let mut key = LeasedKey::new(limit.clone(), Micros::from_secs(2), Fault::None);
    let request = wallet.ask(1, 1, 1, sent, &pace);
    let ten_before_the_end = START - START % 60_000_000 + 50_000_000;
    let answer = key.exchange(&request, ten_before_the_end, None);
    let lasts = answer.lasts;
    assert_eq!((lasts, answer.lent), (Micros::from_secs(10), 8));
    wallet.receive(answer, None, received, &limit, &pace);
    assert_eq!(wallet.in_hand(sent.plus(Micros::new(9_900_000))), 8);
    assert_eq!(wallet.in_hand(sent.plus(lasts)), 0, "not from the answer's arrival");
    assert_eq!(wallet.spend(1, received.plus(lasts)), Spend::Ask);
}

/// A node dies with what it holds: the units are missing until their generation ends, and then the bucket fills by its rate.
#[test]
fn a_dead_nodes_units_count_as_spent() {
    let (mut key, answer) = lent(Fault::None);
    let end = START + answer.lasts.get();
    assert_eq!(key.remaining(end - 1, None), 50, "full, but for what is out");
    assert_eq!(key.remaining(end, None), 50, "no credit");
    assert_eq!(key.remaining(end + 125_000, None), 100, "50 more at 400 a second");
}

/// After a reset a key is as new, but for what is out.
#[test]
fn a_reset_forgets_all_but_what_is_out() {
    let (mut bucket, _) = lent(Fault::None);
    assert!(!bucket.charge(50, START, None).refused);
    bucket.reset(START, None);
    assert_eq!(bucket.remaining(START, None), 50);

    let mut window = LeasedKey::new(window_of_100(), Micros::from_secs(2), Fault::None);
    window.exchange(&borrow(40), START, None);
    assert!(!window.charge(60, START, None).refused);
    window.reset(START, None);
    assert_eq!(window.remaining(START, None), 60);
    assert_eq!(window.charge(1, START, None).at, Timestamp::from_micros(START));
}
