//! States as they are kept on the server, and as core reads them.

use tollgate_core::{BucketTicks, Cells, Limit, Log, Slots, State, Timestamp, Words};

use super::exact::Split;
use super::parameters::Parameters;
use super::reply::whole;
use crate::redis::scripts::Kind;

/// How long a reply's states are.
pub(super) trait Width {
    /// Bytes of a limit's state in a reply.
    fn width(&self) -> usize;
}

impl Width for Parameters {
    fn width(&self) -> usize {
        match self.part.kind {
            Kind::Closed => 0,
            Kind::Bucket => 20,
            Kind::FixedWindow | Kind::Quota | Kind::Concurrency => 16,
            Kind::SlidingWindow => 24,
            Kind::SlidingCells => 8 * (self.cells + 2),
            Kind::SlidingLog => 64,
        }
    }
}

/// A reply's state as core goes on with it; `None` where it is none.
pub(crate) fn decode(limit: &Limit, parameters: &Parameters, raw: &[u8]) -> Option<State> {
    if parameters.part.kind == Kind::Bucket {
        return decode_bucket(limit, parameters.ticks.as_ref()?, raw);
    }
    let numbers: Vec<u64> = raw.chunks(8).map(whole).collect::<Option<_>>()?;
    Some(match (parameters.part.kind, numbers.as_slice()) {
        // Nothing was ever counted.
        (_, numbers) if numbers.iter().all(|number| *number == 0) => State::Fresh,
        (Kind::FixedWindow | Kind::Quota, [start, count]) => {
            State::Count { start: *start, count: *count }
        }
        (Kind::SlidingWindow, [cell, previous, current]) => {
            State::Pair { cell: *cell, previous: *previous, current: *current }
        }
        (Kind::SlidingCells, [cell, counts @ ..]) => {
            State::Cells(Box::new(Cells::new(*cell, counts)))
        }
        (Kind::SlidingLog, marks) => State::Log(Box::new(log(marks)?)),
        (Kind::Concurrency, [0, _]) => State::Fresh,
        (Kind::Concurrency, [units, end]) => {
            State::Slots(Box::new(Slots::of(Timestamp::from_micros(*end), *units)))
        }
        _ => return None,
    })
}

/// A log with an entry for each mark: what lies between two of them makes no difference to what is told.
fn log(marks: &[u64]) -> Option<Log> {
    let mut before = 0;
    let mut entries = Vec::with_capacity(4);
    for mark in marks.chunks_exact(2) {
        let units = mark[1].checked_sub(before)?;
        if units > 0 {
            entries.push((Timestamp::from_micros(mark[0]), units));
        }
        before = mark[1];
    }
    Some(Log::of(entries))
}

/// A bucket's state, written under the parameters of `limit`, whose ticks are `ticks`.
pub(crate) fn decode_bucket(limit: &Limit, ticks: &BucketTicks, raw: &[u8]) -> Option<State> {
    let (full, rest) = raw.split_at_checked(8)?;
    let (part, tag) = rest.split_at_checked(8)?;
    if tag == [0; 4] {
        return Some(State::Fresh);
    }
    let word = u128::from(whole(full)?) * u128::from(ticks.per_micro) + u128::from(whole(part)?);
    match limit.words() {
        Words::One => Some(State::Bucket(u64::try_from(word).ok()?)),
        _ => Some(State::WideBucket(word)),
    }
}

/// A bucket's state as the scripts keep it, and the microsecond at which it is full.
pub(crate) fn encode_bucket(state: &State, parameters: &Parameters) -> Option<(Vec<u8>, u64)> {
    let word = match state {
        State::Bucket(word) => u128::from(*word),
        State::WideBucket(word) => *word,
        _ => return None,
    };
    let [full, part] = parameters.ticks.as_ref()?.split(word);
    let mut raw = Vec::with_capacity(20);
    raw.extend_from_slice(&full.to_le_bytes());
    raw.extend_from_slice(&part.to_le_bytes());
    raw.extend_from_slice(&parameters.tag.to_le_bytes());
    Some((raw, full as u64 + 1))
}

/// The tag of a bucket's state.
pub(crate) fn tag_of(raw: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(raw.get(16..20)?.try_into().ok()?))
}
