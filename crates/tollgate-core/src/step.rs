//! The one entry that steps several limits all or nothing.

use crate::{Decision, Limit, Micros, Outcome, Period, State, Timestamp};

/// One limit asked for one key.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The limit.
    pub limit: &'a Limit,
    /// What is remembered of the key; written in place where [`Outcome::changed`].
    pub state: &'a mut State,
    /// Units asked; 0 asks without taking.
    pub cost: u64,
    /// The period around now; needed by a quota, ignored by others.
    pub period: Option<Period>,
}

/// Steps `asked` at `now`: all are checked, then all are charged or none (and what section 5 of the design says of
/// `count_refused`, `overdraw` and shadow limits).
///
/// `ticket` names what this decision takes (see [`Charged`](crate::Charged)). `hold` is how long a slot will be held
/// after the request leaves, where that is known beforehand (a replay); `None` holds it until released, `ttl` at the latest.
/// `outcomes` gets one entry for each of `asked`, in order.
///
/// # Panics
/// Where `outcomes` is shorter than `asked`, or a quota comes without its period.
pub fn step(
    asked: &mut [Asked<'_>],
    now: Timestamp,
    ticket: u64,
    hold: Option<Micros>,
    outcomes: &mut [Outcome],
) -> Decision {
    let _ = (asked, now, ticket, hold, outcomes);
    unimplemented!("the core's first commit")
}
