//! One attempt at a decision: read all keys, step, and write all or nothing. It ends with a decision, or with nothing
//! changed and a reason to try again.

use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;
use tollgate_core::State;

use super::charge::{Decided, step_all};
use super::counter::{Counts, Moved};
use super::hash::KeyHash;
use super::lines::Lines;
use super::plan::Ask;
use super::shards::Shards;
use super::table::Look;
use crate::Call;

/// Why an attempt came to nothing.
pub(crate) enum Again {
    /// What was read has changed.
    Changed,
    /// A reload has moved counts to a successor.
    Moved,
    /// The ask at this place has a new key, and there is no room for it.
    Full(usize),
}

impl From<Moved> for Again {
    fn from(_: Moved) -> Again {
        Again::Moved
    }
}

/// What was read of each ask's key; `None` where its states are in locked maps.
pub(crate) type Looks = SmallVec<[Option<Look>; 4]>;

/// Decides once.
pub(crate) fn attempt(
    asks: &[Ask<'_>],
    call: &Call<'_>,
    tickets: &AtomicU64,
) -> Result<Decided, Again> {
    if asks.iter().all(|ask| matches!(ask.counter.counts, Counts::Table(_))) {
        optimistic(asks, call)
    } else {
        locking(asks, call, tickets)
    }
}

/// All states are in tables: step on copies, then move the lines on from the versions that were read.
#[inline]
fn optimistic(asks: &[Ask<'_>], call: &Call<'_>) -> Result<Decided, Again> {
    let mut looks = look_all(asks)?;
    let mut states: SmallVec<[State; 4]> = SmallVec::new();
    for (ask, look) in asks.iter().zip(&looks) {
        states.push(look.as_ref().map_or(State::Fresh, |look| ask.counter.state(look)));
    }
    // No state of one or two words asks for a ticket.
    let decided = step_all(asks, &mut states, call, 0);
    let changed = |index: usize| decided.outcomes[index].changed;
    if insert_all(asks, &looks, changed, call)? {
        // What was decided holds if all keys are as they were, and the new ones have their entries.
        let before = std::mem::replace(&mut looks, look_all(asks)?);
        let same = |(index, ask): (usize, &Ask<'_>)| match (&before[index], &looks[index]) {
            (Some(before), Some(after)) => {
                ask.counter.words(before) == ask.counter.words(after)
                    && (after.is_present() || !changed(index))
            }
            _ => true,
        };
        if !asks.iter().enumerate().all(same) {
            return Err(Again::Changed);
        }
    }
    let lines = Lines::lock(asks, &looks, changed)?;
    if !lines.others_still(asks, &looks) {
        lines.unlock(|_| false);
        return Err(Again::Changed);
    }
    lines.write(asks, &looks, &states);
    lines.unlock(changed);
    Ok(decided)
}

/// Gives those changed keys that have none their entries; says whether there were any.
fn insert_all(
    asks: &[Ask<'_>],
    looks: &Looks,
    changed: impl Fn(usize) -> bool,
    call: &Call<'_>,
) -> Result<bool, Again> {
    let mut inserted = false;
    for (index, look) in looks.iter().enumerate() {
        if look.as_ref().is_some_and(|look| !look.is_present()) && changed(index) {
            insert(asks, index, call)?;
            inserted = true;
        }
    }
    Ok(inserted)
}

/// Some states are in locked maps, and are changed in place: lock everything beforehand.
fn locking(asks: &[Ask<'_>], call: &Call<'_>, tickets: &AtomicU64) -> Result<Decided, Again> {
    let looks = look_all(asks)?;
    let absent = |look: &Option<Look>| look.is_some_and(|look| !look.is_present());
    if looks.iter().any(absent) {
        for index in (0..asks.len()).filter(|index| absent(&looks[*index])) {
            insert(asks, index, call)?;
        }
        return Err(Again::Changed);
    }
    let mut shards = Shards::lock(asks)?;
    shards.enter(asks)?;
    let lines = match Lines::lock(asks, &looks, |_| true) {
        Ok(lines) => lines,
        Err(again) => {
            shards.leave(asks);
            return Err(again);
        }
    };
    let ticket = tickets.fetch_add(1, Ordering::Relaxed);
    let mut states: SmallVec<[State; 4]> = SmallVec::new();
    for (index, ask) in asks.iter().enumerate() {
        states.push(match &looks[index] {
            Some(look) => ask.counter.state(look),
            None => shards.take(asks, index),
        });
    }
    let decided = step_all(asks, &mut states, call, ticket);
    let changed = |index: usize| decided.outcomes[index].changed;
    lines.write_some(asks, &looks, &states, changed);
    lines.unlock(changed);
    shards.put_all(asks, states, changed, call.now);
    Ok(decided)
}

/// Reads all keys that are in tables.
#[inline]
fn look_all(asks: &[Ask<'_>]) -> Result<Looks, Again> {
    if asks.len() > 1 {
        // All the lines are on their way before the first is waited for.
        for ask in asks {
            if let Counts::Table(table) = &ask.counter.counts {
                table.touch(ask.key);
            }
        }
    }
    let mut looks = Looks::new();
    for ask in asks {
        looks.push(match &ask.counter.counts {
            Counts::Table(table) => Some(ask.counter.look(table, ask.key)?),
            Counts::Locked(_) => None,
        });
    }
    Ok(looks)
}

/// Gives an ask's key an entry in its table, as fresh as new.
fn insert(asks: &[Ask<'_>], index: usize, call: &Call<'_>) -> Result<(), Again> {
    let ask = &asks[index];
    let Counts::Table(table) = &ask.counter.counts else { return Ok(()) };
    if ask.key != KeyHash::OVERFLOW && !ask.counter.room.enter() {
        return Err(Again::Full(index));
    }
    match ask.counter.insert(table, ask.key, call.now)? {
        true => Ok(()),
        false => Err(Again::Full(index)),
    }
}
