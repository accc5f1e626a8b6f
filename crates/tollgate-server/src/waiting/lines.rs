//! The arithmetic of lines: who stands behind whom under which limit, and by how much they move up.
//!
//! A charge of cost c on a leaky bucket holds a stretch of time c*T that begins when the request leaves. While it has not
//! left, nothing of the stretch has passed, so giving it back frees all of it, and everyone behind leaves c*T earlier; a
//! give-back later than that moment frees what is left of the stretch. A request leaves when it is its turn in all of its
//! lines.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use smallvec::SmallVec;
use tollgate_store::LimitId;

use super::Turn;

/// A line: one key under one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Line {
    /// The limit, as its store knows it.
    pub(crate) limit: LimitId,
    /// The store's name of the key.
    pub(crate) key: u128,
}

/// A stretch of a line's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// Which line.
    pub(crate) line: Line,
    /// When it begins, in microseconds: the request may leave then, as far as this line goes.
    pub(crate) due: u64,
    /// How long it is, in microseconds, rounded down: those who move up by it never leave too early.
    pub(crate) span: u64,
}

/// A claim that was given up.
pub(crate) type Left = Claim;

/// Everybody who waits.
#[derive(Debug, Default)]
pub(super) struct Lines {
    next: u64,
    seats: HashMap<u64, Waiter>,
    /// In each line, by due and then by number.
    lines: HashMap<Line, BTreeMap<(u64, u64), u64>>,
}

#[derive(Debug)]
struct Waiter {
    turn: Arc<Turn>,
    /// When it may leave as far as limits go that have no line.
    least: u64,
    claims: SmallVec<[Claim; 2]>,
}

impl Lines {
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.seats.len()
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.seats.is_empty() && self.lines.is_empty()
    }

    pub(super) fn enter(
        &mut self,
        turn: Arc<Turn>,
        claims: impl IntoIterator<Item = Claim>,
        most: usize,
    ) -> Option<u64> {
        if self.seats.len() >= most {
            return None;
        }
        let number = self.next;
        self.next += 1;
        let claims: SmallVec<[Claim; 2]> = claims.into_iter().collect();
        for claim in &claims {
            self.lines.entry(claim.line).or_default().insert((claim.due, number), claim.span);
        }
        let due = turn.due.load(std::sync::atomic::Ordering::Relaxed);
        let explained = claims.iter().any(|claim| claim.due >= due);
        self.seats.insert(number, Waiter { turn, least: if explained { 0 } else { due }, claims });
        Some(number)
    }

    pub(super) fn depart(&mut self, number: u64) -> SmallVec<[Claim; 2]> {
        let Some(waiter) = self.seats.remove(&number) else { return SmallVec::new() };
        for claim in &waiter.claims {
            if let Some(line) = self.lines.get_mut(&claim.line) {
                line.remove(&(claim.due, number));
                if line.is_empty() {
                    self.lines.remove(&claim.line);
                }
            }
        }
        waiter.claims
    }

    pub(super) fn leave(&mut self, number: u64, now: u64) -> Vec<Left> {
        let claims = self.depart(number);
        for claim in &claims {
            let gone = now.saturating_sub(claim.due);
            if let Some(span @ 1..) = claim.span.checked_sub(gone) {
                self.move_up(claim, number, span);
            }
        }
        claims.into_vec()
    }

    /// Everyone behind `left` leaves `span` earlier, as far as its line goes.
    fn move_up(&mut self, left: &Claim, number: u64, span: u64) {
        let Some(line) = self.lines.get_mut(&left.line) else { return };
        let behind = line.split_off(&(left.due, number));
        for ((due, number), length) in behind {
            let earlier = due.saturating_sub(span);
            line.insert((earlier, number), length);
            if let Some(waiter) = self.seats.get_mut(&number) {
                waiter.moved(left.line, due, earlier);
            }
        }
    }
}

impl Waiter {
    fn moved(&mut self, line: Line, from: u64, to: u64) {
        for claim in &mut self.claims {
            if claim.line == line && claim.due == from {
                claim.due = to;
            }
        }
        let due = self.claims.iter().map(|claim| claim.due).max().unwrap_or(0).max(self.least);
        self.turn.move_to(due);
    }
}
