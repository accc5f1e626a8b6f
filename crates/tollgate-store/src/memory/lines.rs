//! Locking the lines of an attempt, each once and in one order, without waiting.

use smallvec::SmallVec;

use super::attempt::Again;
use super::plan::{Ask, Hold};

/// Locks the lines of those asks that `wanted` names, under the versions that were read. `unordered` is the plan's.
#[inline]
pub(super) fn lock(
    asks: &mut [Ask<'_>],
    unordered: bool,
    wanted: impl Fn(&Ask<'_>) -> bool,
) -> Result<(), Again> {
    let locked = if unordered {
        lock_unordered(asks, wanted)
    } else {
        asks.iter_mut().filter(|ask| wanted(ask)).all(lock_own)
    };
    if locked {
        return Ok(());
    }
    unlock(asks);
    Err(Again::Changed)
}

#[inline]
fn lock_own(ask: &mut Ask<'_>) -> bool {
    if ask.table().is_none() {
        return true;
    }
    let locked = ask.look.try_lock();
    if locked {
        ask.hold = Hold::Own;
    }
    locked
}

/// Puts them in order first, and locks a line once in which several asks have their entries.
#[inline(never)]
fn lock_unordered(asks: &mut [Ask<'_>], wanted: impl Fn(&Ask<'_>) -> bool) -> bool {
    let mut order: SmallVec<[usize; 8]> = (0..asks.len()).filter(|at| wanted(&asks[*at])).collect();
    order.sort_unstable_by_key(|at| (asks[*at].counter.id, asks[*at].look.line()));
    order.into_iter().all(|at| {
        let holds = |other: &&Ask<'_>| other.hold == Hold::Own && same_line(other, &asks[at]);
        match asks.iter().find(holds).filter(|_| asks[at].table().is_some()) {
            Some(holder) => {
                let same = holder.look.same_version(&asks[at].look);
                asks[at].hold = Hold::Shared;
                same
            }
            None => lock_own(&mut asks[at]),
        }
    })
}

fn same_line(a: &Ask<'_>, b: &Ask<'_>) -> bool {
    a.counter.id == b.counter.id && a.look.line() == b.look.line()
}

/// Whether the lines of all asks that are not locked still are as they were read.
#[inline]
pub(super) fn others_still(asks: &[Ask<'_>]) -> bool {
    let still = |ask: &Ask<'_>| {
        let Some(table) = ask.table() else { return true };
        table.still(&ask.look, |line| {
            let same =
                |other: &Ask<'_>| other.counter.id == ask.counter.id && other.look.line() == line;
            asks.iter().any(|other| other.hold == Hold::Own && same(other))
        })
    };
    asks.iter().all(|ask| ask.hold != Hold::None || still(ask))
}

/// Writes the states that changed, and unlocks all lines; those that were written to get their next version.
#[inline]
pub(super) fn write(asks: &mut [Ask<'_>], unordered: bool) {
    if unordered {
        return write_shared(asks);
    }
    for ask in asks {
        if ask.hold == Hold::Own {
            write_one(ask);
            ask.look.unlock(ask.outcome.changed);
            ask.hold = Hold::None;
        }
    }
}

#[inline]
fn write_one(ask: &Ask<'_>) {
    if let Some(table) = ask.table()
        && ask.hold != Hold::None
        && ask.outcome.changed
    {
        table.write(&ask.look, ask.words);
    }
}

/// The same where several asks may have their entries in one line.
#[inline(never)]
fn write_shared(asks: &mut [Ask<'_>]) {
    asks.iter().for_each(write_one);
    for ask in asks.iter().filter(|ask| ask.hold == Hold::Own) {
        let changed = |other: &Ask<'_>| other.outcome.changed && same_line(ask, other);
        ask.look.unlock(asks.iter().any(changed));
    }
    asks.iter_mut().for_each(|ask| ask.hold = Hold::None);
}

/// Unlocks all lines, in which nothing was written.
#[cold]
pub(super) fn unlock(asks: &mut [Ask<'_>]) {
    for ask in asks {
        if ask.hold == Hold::Own {
            ask.look.unlock(false);
        }
        ask.hold = Hold::None;
    }
}
