//! What is said of a leased key without asking the store: the last that it told, aged, and what is in hand.

use tollgate_core::{Asked, Limit, Micros, Outcome, Period, Retry, State, Timestamp, step};

use super::wallet::Told;
use crate::Uptime;

/// What `limit` alone would say to `cost` in `state`, which stays as it is.
pub(crate) fn ask(
    limit: &Limit,
    state: &State,
    cost: u64,
    period: Option<Period>,
    now: Timestamp,
) -> Outcome {
    let mut state = state.clone();
    let mut outcomes = [Outcome::default()];
    let asked = Asked { limit, state: &mut state, cost, period };
    step(&mut [asked], now, 0, None, &mut outcomes);
    outcomes[0]
}

/// The outcome of `cost` units that were spent, of which `in_hand` are left.
pub(crate) fn spent(
    limit: &Limit,
    told: &Told,
    cost: u64,
    in_hand: u64,
    period: Option<Period>,
    at: Uptime,
) -> Outcome {
    let now = told.now_at(at);
    let mut standing = limit.standing(&told.state, period, now);
    standing.remaining = standing.remaining.saturating_add(in_hand);
    Outcome { units: cost, at: now, changed: true, standing, ..Outcome::default() }
}

/// The outcome of `cost` that is refused until `until`.
pub(crate) fn refused(
    limit: &Limit,
    told: &Told,
    cost: u64,
    period: Option<Period>,
    until: Uptime,
    at: Uptime,
) -> Outcome {
    let now = told.now_at(at);
    let outcome = ask(limit, &told.state, cost, period, now);
    let retry = match outcome.retry {
        Retry::After(wait) => Retry::After(wait.max(until.since(at)).max(Micros::new(1))),
        Retry::Never => Retry::Never,
    };
    let standing = limit.standing(&told.state, period, now);
    Outcome {
        refused: true,
        retry,
        units: 0,
        fraction: 0,
        at: now,
        changed: false,
        standing,
        wait: Micros::ZERO,
    }
}
