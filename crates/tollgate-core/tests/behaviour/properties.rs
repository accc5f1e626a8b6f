//! Promises that hold for every limit and every course of time, tried on random ones.
//!
//! The seeds are fixed, so that a run is the same everywhere; `PROPTEST_CASES` and `PROPTEST_RNG_SEED` try others.

mod courses;
mod giving_back;
mod outside;
mod promises;
mod words;
