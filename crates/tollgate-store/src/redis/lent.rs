//! The state of a bucket of which units are on lease, as `lua/lease/bucket.lua` keeps it: read here only where it goes on
//! under other parameters.
//!
//! It goes on as a bucket of which nothing is on lease, emptier by all that is: as if everything had been spent when its
//! generation ends. What is reported later is then of a generation that nobody knows.

use super::wire::{tag_of, whole};
use crate::shared::lease::GENERATION;

/// What tells the tag of a leased bucket from that of the same bucket without leases.
const LEASED: u32 = 1 << 31;

/// The tag of leased buckets under the parameters of `tag`.
pub(crate) fn lent_tag(tag: u32) -> u32 {
    tag ^ LEASED
}

/// Bytes of a leased bucket's state, and of the bucket's own in it.
const LENGTH: usize = 60;
const OWN: usize = 20;

/// Whether this is the state of a bucket of which units are on lease.
pub(crate) fn is_leased(raw: &[u8]) -> bool {
    raw.len() == LENGTH
}

/// The tag of the parameters under which a bucket's state was written.
pub(crate) fn parameters_of(raw: &[u8]) -> Option<u32> {
    let tag = tag_of(raw)?;
    Some(if is_leased(raw) { lent_tag(tag) } else { tag })
}

/// A bucket of which units are on lease, once nothing is out any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// When it is full, in ticks.
    pub(crate) full: u128,
    /// When the last generation ends, in microseconds.
    pub(crate) last: u64,
    /// What is out until then, in ticks.
    pub(crate) out: u128,
}

impl Ended {
    /// Reads a leased bucket's state with `per_micro` ticks in a microsecond; where nobody knows how many they are, they are
    /// microseconds, rounded up.
    pub(crate) fn read(raw: &[u8], per_micro: Option<u64>) -> Option<Ended> {
        let ticks = |span: &[u8]| {
            let (micros, part) = span.split_at_checked(8)?;
            let (micros, part) = (u128::from(whole(micros)?), u128::from(whole(part)?));
            Some(match per_micro {
                Some(per_micro) => micros * u128::from(per_micro) + part,
                None => micros + u128::from(part > 0),
            })
        };
        let (own, leases) = raw.split_at_checked(OWN)?;
        let (last, generations) = leases.split_at_checked(8)?;
        let (older, newer) = generations.split_at_checked(16)?;
        let (last, older, newer) = (whole(last)?, ticks(older)?, ticks(newer)?);
        let moment = |micros: u64| u128::from(micros) * u128::from(per_micro.unwrap_or(1));
        let mut full = ticks(own.get(..16)?)?;
        if older > 0 {
            full = full.max(moment(last.saturating_sub(GENERATION.get())) + older + newer);
        }
        full = full.max(moment(last) + newer);
        Some(Ended { full, last, out: older + newer })
    }
}
