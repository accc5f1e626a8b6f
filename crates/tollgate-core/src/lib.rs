//! The rate-limiting algorithms of Tollgate: pure, exact, integer and `no_std`.
//!
//! Nothing here does I/O, reads a clock, is async, uses a float, or allocates on the hot path. Time, and everything else
//! that is not arithmetic, is an argument. See `ARCHITECTURE.md` for the map.
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
mod fixed_window;
mod leaky_bucket;
mod limit;
mod moment;
mod outcome;
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
pub use limit::{Limit, Rules};
pub use outcome::{Decision, Outcome, Retry, Standing};
pub use rate::{Burst, Rate};
pub use spec_error::SpecError;
pub use state::{Cells, Charged, Log, Slots, State};
pub use step::{Asked, step};
pub use time::{Micros, Period, Timestamp};
pub use words::Words;
