//! The rate-limiting algorithms of Tollgate: pure, exact, integer and `no_std`.
//!
//! - [`Algorithm`] and [`Rules`] say what is asked for; [`Limit::new`] checks and compiles it. Whatever could overflow is
//!   refused there, so that nothing wraps, saturates or rounds later.
//! - [`step`] asks several limits about one request each and charges all or none. It is the only way to a decision;
//!   [`Checking`] and [`Committing`] are its halves.
//! - [`Limit::settle`] and [`Limit::release`] correct it afterwards, [`Limit::carry_over`] takes what was counted into new
//!   parameters, [`Limit::standing`] looks.
//! - [`State`] is what is remembered of one key; [`Limit::encode`] packs the small ones in a word or two. [`Bucket64`] is the
//!   shortest path, for limiters of a single bucket.
//!
//! Absent: I/O, clocks, async, floats, randomness, and allocation for all but logs, slots and windows of several cells.
//! Time is an argument, in whole microseconds; where a result is rounded, waits and retry times go up, units left go down.
//! See `ARCHITECTURE.md` for the map.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod algorithm;
mod allowance;
mod bucket;
mod bucket64;
mod carry_over;
mod concurrency;
mod counter;
mod extent;
mod fixed_window;
mod kept;
mod leaky_bucket;
mod limit;
mod moment;
mod outcome;
mod outside;
mod plan;
mod quota;
mod rate;
mod settle;
mod sliding_log;
mod sliding_window;
mod spec_error;
mod standing;
mod state;
mod step;
mod ticks;
mod time;
mod token_bucket;
mod word;
mod words;

pub use algorithm::{
    Algorithm, Concurrency, FixedWindow, LeakyBucket, Quota, SlidingLog, SlidingWindow, TokenBucket,
};
pub use bucket64::{Bucket64, Refused64};
pub use extent::BucketTicks;
pub use limit::{Limit, Rules};
pub use outcome::{Decision, Outcome, Retry, Standing};
pub use rate::{Burst, Rate};
pub use spec_error::SpecError;
pub use state::{Cells, Charged, Log, Slots, State};
pub use step::{Asked, Checking, Committing, step};
pub use time::{Micros, Period, Timestamp};
pub use words::Words;
