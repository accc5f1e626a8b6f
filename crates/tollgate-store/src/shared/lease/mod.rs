//! `sync: leased`: units are borrowed from the shared store in batches and spent locally.
//!
//! The store charges what it lends before it answers, so that the count is taken first and spent later; a node that dies
//! has spent all it held. Windows and quotas charge a lease to their current cell, and it ends with that cell. A bucket
//! keeps two generations of leases beside its state and counts its capacity smaller by what is out, so that level and leases
//! together never exceed it: decision 080 has the proof.
//!
//! A node sends a key's requests one after the other, reports each unit once, and never asks twice: an answer that does not
//! come is units that nobody spends.

mod decide;
mod demand;
mod errand;
mod exchange;
mod hand;
mod loans;
mod observed;
mod pace;
mod purse;
mod spend;
mod turn;
mod verdict;
mod wallet;

pub(crate) use exchange::{Answer, Report, Request};
pub use observed::LeasesObserved;
pub(crate) use pace::{GENERATION, Pace};
pub(super) use purse::Purse;

#[cfg(test)]
pub(super) mod tests;
