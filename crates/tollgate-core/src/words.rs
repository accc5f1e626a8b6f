//! States as plain words, for tables that keep millions of them.

use crate::{Limit, State};

/// How many 64-bit words hold any state of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Words {
    /// One: a bucket of ordinary parameters.
    One,
    /// Two: wide buckets, fixed windows, quotas, and sliding windows of one cell whose counts fit 32 bits.
    Two,
    /// No fixed number: keep the [`State`] itself.
    Boxed,
}

impl Limit {
    /// How many words hold a state of this limit.
    #[must_use]
    pub fn words(&self) -> Words {
        unimplemented!("follows at once")
    }

    /// `state` as words; the second is 0 where [`Limit::words`] is one. Nothing is lost, but for the difference between
    /// [`State::Fresh`] and a state that is as fresh as that. Not for [`Words::Boxed`]: there it is all zeros.
    #[must_use]
    pub fn encode(&self, state: &State) -> [u64; 2] {
        let _ = state;
        unimplemented!("follows at once")
    }

    /// The state that [`Limit::encode`] wrote. [`Limit::encode`] of [`State::Fresh`] is what an unknown key starts with.
    #[must_use]
    pub fn decode(&self, words: [u64; 2]) -> State {
        let _ = words;
        unimplemented!("follows at once")
    }
}
