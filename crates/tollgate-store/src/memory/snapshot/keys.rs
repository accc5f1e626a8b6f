//! Keys and their states: as the table's hash bits, and as words; larger states behind their length.

use tollgate_core::{Cells, Limit, Log, State, Timestamp, Words};

use super::fields::{In, Out};
use crate::memory::hash::KeyHash;

/// Writes a key of a shard with its state.
pub(super) fn write(limit: &Limit, key: u128, state: &State, out: &mut Out) {
    out.short((key >> 64) as u32);
    out.long(key as u64);
    let [first, second] = limit.encode(state);
    match limit.words() {
        Words::One => out.long(first),
        Words::Two => {
            out.long(first);
            out.long(second);
        }
        Words::Boxed => write_large(state, out),
    }
}

fn write_large(state: &State, out: &mut Out) {
    match state {
        State::Pair { cell, previous, current } => {
            out.short(3);
            [*cell, *previous, *current].into_iter().for_each(|number| out.long(number));
        }
        State::Cells(cells) => {
            out.short(cells.counts().len() as u32 + 1);
            out.long(cells.newest());
            cells.counts().iter().for_each(|count| out.long(*count));
        }
        State::Log(log) => {
            out.short(log.entries().len() as u32 * 2);
            for (moment, units) in log.entries() {
                out.long(moment.as_micros());
                out.long(units);
            }
        }
        _ => out.short(0),
    }
}

/// Reads a key with its state; `None` where none is written like that.
pub(super) fn read(limit: &Limit, content: &mut In<'_>) -> Option<(u128, State)> {
    let (index, fingerprint) = (content.short()?, content.long()?);
    let known = index >> KeyHash::INDEX_BITS == 0 && fingerprint != 0;
    let state = match limit.words() {
        Words::One => limit.decode([content.long()?, 0]),
        Words::Two => limit.decode([content.long()?, content.long()?]),
        Words::Boxed => read_large(limit, content)?,
    };
    let key = u128::from(index) << 64 | u128::from(fingerprint);
    (known && limit.accepts(&state)).then_some((key, state))
}

fn read_large(limit: &Limit, content: &mut In<'_>) -> Option<State> {
    let count = content.short()? as usize;
    // As many as the content has, whatever was promised.
    if content.0.len() / 8 < count {
        return None;
    }
    let numbers: Vec<u64> = (0..count).map_while(|_| content.long()).collect();
    Some(match (limit.algorithm(), &numbers[..]) {
        (_, []) => State::Fresh,
        (tollgate_core::Algorithm::SlidingLog(_), entries) => {
            let (pairs, rest) = entries.as_chunks::<2>();
            if !rest.is_empty() {
                return None;
            }
            let entry = |[moment, units]: &[u64; 2]| (Timestamp::from_micros(*moment), *units);
            State::Log(Box::new(Log::of(pairs.iter().map(entry))))
        }
        (_, [cell, previous, current]) => {
            State::Pair { cell: *cell, previous: *previous, current: *current }
        }
        (_, [newest, counts @ ..]) => State::Cells(Box::new(Cells::new(*newest, counts))),
    })
}
