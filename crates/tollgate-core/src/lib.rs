//! The rate-limiting algorithms of Tollgate: pure, exact, integer and `no_std`.
//!
//! Nothing here does I/O, reads a clock, is async, uses a float, or allocates on the hot path. Time, and everything else
//! that is not arithmetic, is an argument. See `ARCHITECTURE.md` for the map.
#![no_std]

extern crate alloc;

mod algorithm;
mod limit;
mod outcome;
mod rate;
mod state;
mod step;
mod time;

pub use algorithm::{
    Algorithm, Concurrency, FixedWindow, LeakyBucket, Quota, SlidingLog, SlidingWindow, TokenBucket,
};
pub use limit::{Limit, Rules, SpecError};
pub use outcome::{Decision, Outcome, Retry, Standing};
pub use rate::{Burst, Rate};
pub use state::{Charged, State};
pub use step::{Asked, step};
pub use time::{Micros, Period, Timestamp};
