//! One attempt at a decision: read all keys, step, and write all or nothing. It ends with a decision, or with nothing
//! changed and a reason to try again.

use std::sync::atomic::{AtomicU64, Ordering};

use tollgate_core::{Checking, Decision};

use super::counter::Moved;
use super::hash::KeyHash;
use super::lines;
use super::plan::{Ask, Plan};
use super::shards::{Shards, States};
use super::table::Table;
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

/// What was decided; what each ask was answered is in the plan.
#[derive(Clone, Copy)]
pub(crate) struct Decided {
    pub(crate) decision: Decision,
    /// The ticket it was decided under.
    pub(crate) ticket: u64,
}

/// Decides once.
#[inline]
pub(crate) fn attempt(
    plan: &mut Plan<'_>,
    call: &Call<'_>,
    tickets: &AtomicU64,
) -> Result<Decided, Again> {
    if plan.locks { locking(plan, call, tickets) } else { optimistic(plan, call) }
}

/// All states are in tables: step on copies, then move the lines on from the versions that were read.
#[inline]
fn optimistic(plan: &mut Plan<'_>, call: &Call<'_>) -> Result<Decided, Again> {
    let (asks, unordered) = (&mut plan.asks[..], plan.unordered);
    let mut checking = Checking::at(call.now);
    for ask in &mut *asks {
        ask.read()?;
        ask.words = ask.counter.words(&ask.look);
        let (mut asked, outcome) = ask.asked();
        checking.check_words(&mut asked, outcome);
    }
    // No state of one or two words asks for a ticket.
    let mut committing = checking.all_checked(0, call.hold);
    for ask in &mut *asks {
        let (mut asked, outcome) = ask.asked();
        committing.commit_words(&mut asked, outcome);
    }
    if asks.iter().any(|ask| ask.outcome.changed && !ask.look.is_present()) {
        insert_all(asks, call)?;
    }
    lines::lock(asks, unordered, |ask| ask.outcome.changed)?;
    if !lines::others_still(asks) {
        lines::unlock(asks);
        return Err(Again::Changed);
    }
    lines::write(asks, unordered);
    Ok(Decided { decision: committing.decision(), ticket: 0 })
}

/// Gives those changed keys that have none their entries, and reads all anew. What was decided holds if they are as they
/// were.
#[inline(never)]
fn insert_all(asks: &mut [Ask<'_>], call: &Call<'_>) -> Result<(), Again> {
    for index in 0..asks.len() {
        if asks[index].outcome.changed && !asks[index].look.is_present() {
            insert(asks, index, call)?;
        }
    }
    for ask in asks {
        let before = ask.counter.words(&ask.look);
        ask.read()?;
        let same = ask.counter.words(&ask.look) == before;
        if !same || (ask.outcome.changed && !ask.look.is_present()) {
            return Err(Again::Changed);
        }
    }
    Ok(())
}

/// Some states are in locked maps, and are changed in place: lock everything beforehand.
#[inline(never)]
fn locking(plan: &mut Plan<'_>, call: &Call<'_>, tickets: &AtomicU64) -> Result<Decided, Again> {
    let (asks, unordered) = (&mut plan.asks[..], plan.unordered);
    let mut inserted = false;
    for index in 0..asks.len() {
        asks[index].read()?;
        asks[index].words = asks[index].counter.words(&asks[index].look);
        if asks[index].table().is_some() && !asks[index].look.is_present() {
            insert(asks, index, call)?;
            inserted = true;
        }
    }
    if inserted {
        return Err(Again::Changed);
    }
    let mut shards = Shards::lock(asks)?;
    shards.enter(asks)?;
    if let Err(again) = lines::lock(asks, unordered, |_| true) {
        shards.leave(asks);
        return Err(again);
    }
    let mut states = shards.take_all(asks);
    let decided = step_all(asks, &mut states, call, tickets.fetch_add(1, Ordering::Relaxed));
    lines::write(asks, unordered);
    shards.put_all(asks, states, call.now);
    Ok(decided)
}

/// Runs the arithmetic over the asks' words, and over the `states` of those that have none.
fn step_all(asks: &mut [Ask<'_>], states: &mut States, call: &Call<'_>, ticket: u64) -> Decided {
    let mut checking = Checking::at(call.now);
    for (ask, state) in asks.iter_mut().zip(&mut *states) {
        match state {
            Some(state) => {
                let (mut asked, outcome) = ask.asked_of(state);
                checking.check(&mut asked, outcome);
            }
            None => {
                let (mut asked, outcome) = ask.asked();
                checking.check_words(&mut asked, outcome);
            }
        }
    }
    let mut committing = checking.all_checked(ticket, call.hold);
    for (ask, state) in asks.iter_mut().zip(states) {
        match state {
            Some(state) => {
                let (mut asked, outcome) = ask.asked_of(state);
                committing.commit(&mut asked, outcome);
            }
            None => {
                let (mut asked, outcome) = ask.asked();
                committing.commit_words(&mut asked, outcome);
            }
        }
    }
    Decided { decision: committing.decision(), ticket }
}

impl<'r> Ask<'r> {
    /// Reads its key, if that is in a table.
    #[inline(always)]
    fn read(&mut self) -> Result<(), Moved> {
        let (Some(table), Some(home)) = (self.table(), &self.home) else { return Ok(()) };
        match table.look_at_home(self.key, home) {
            // Most keys are at home.
            Some(look) => self.look = look,
            None => self.read_on(table)?,
        }
        Ok(())
    }

    #[inline(never)]
    fn read_on(&mut self, table: &'r Table) -> Result<(), Moved> {
        self.look = self.counter.look(table, self.key)?;
        Ok(())
    }
}

/// Gives an ask's key an entry in its table, as fresh as new.
fn insert(asks: &[Ask<'_>], index: usize, call: &Call<'_>) -> Result<(), Again> {
    let ask = &asks[index];
    let Some(table) = ask.table() else { return Ok(()) };
    if ask.key != KeyHash::OVERFLOW && !ask.counter.room.enter() {
        return Err(Again::Full(index));
    }
    match ask.counter.insert(table, ask.key, call.now)? {
        true => Ok(()),
        false => Err(Again::Full(index)),
    }
}
