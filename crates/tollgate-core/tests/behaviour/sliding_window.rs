//! Sliding windows: whole cells, and the oldest by its share.

use tollgate_core::{Limit, Micros, Rules};

use crate::world::{MINUTE, NEVER, OVERDRAW, SECOND, World, after, limit, sliding};

/// Start of a minute.
const NOW: u64 = 29_453_760 * MINUTE;

#[test]
fn the_cell_before_counts_by_its_share() {
    let mut world = World::of(sliding(100, MINUTE, 1));
    assert!(world.admits(NOW - MINUTE, 50));
    assert!(world.admits(NOW, 10));
    // A tenth of the window later: 50 * 0.9 + 10 = 55.
    let now = NOW + 6 * SECOND;
    assert_eq!(world.remaining(now), 45);
    assert_eq!(world.refusal(now, 46), after(MINUTE / 50));
    assert!(world.admits(now, 45));
    assert_eq!(world.standing(now), (0, 2 * MINUTE - 6 * SECOND, 54 * SECOND));
}

#[test]
fn a_share_is_compared_exactly() {
    // 1 unit weighs above zero for all of the next window, so a limit of 1 admits at its very end.
    let mut world = World::of(sliding(1, MINUTE, 1));
    assert!(world.admits(NOW + 5, 1));
    assert_eq!(world.refusal(NOW + 5, 1), after(2 * MINUTE - 5));
    assert!(!world.admits(NOW + 2 * MINUTE - 1, 1));
    assert!(world.admits(NOW + 2 * MINUTE, 1));
}

#[test]
fn retry_is_found_in_the_cell_where_it_is() {
    // Cells of 15 s with 3, 1, 0 and 4 units; then the window moves on.
    let mut world = World::of(sliding(8, MINUTE, 4));
    for (cell, units) in [(0, 3), (1, 1), (3, 4)] {
        assert!(world.admits(NOW + cell * 15 * SECOND, units));
    }
    let now = NOW + 59 * SECOND;
    assert_eq!(world.standing(now), (0, 61 * SECOND, SECOND));
    // The first cell's 3 leave evenly during the minute's last quarter hour: one after 5 s of it.
    assert_eq!(world.refusal(now, 1), after(SECOND + 5 * SECOND));
    assert_eq!(world.refusal(now, 3), after(SECOND + 15 * SECOND));
    assert_eq!(world.refusal(now, 4), after(SECOND + 30 * SECOND));
    // Of the last 4 units three must have left by three quarters of their cell's way out.
    assert_eq!(world.refusal(now, 7), after(SECOND + 45 * SECOND + 11_250_000));
    assert_eq!(world.refusal(now, 8), after(61 * SECOND));
    assert_eq!(world.refusal(now, 9), NEVER);
}

#[test]
fn many_cells_forget_what_a_long_pause_leaves_behind() {
    let mut world = World::of(sliding(1_000, MINUTE, 60));
    for second in 0..90 {
        assert!(world.admits(NOW + second * SECOND, 10), "second {second}");
    }
    assert_eq!(world.remaining(NOW + 89 * SECOND), 1_000 - 610);
    assert_eq!(world.standing(NOW + 151 * SECOND), (1_000, 0, 0));
    assert_eq!(world.standing(NOW + 150 * SECOND - 1).1, 1);
}

#[test]
fn counts_beyond_64_bit_products_are_exact() {
    let year = 365 * 24 * 60 * MINUTE;
    let most = 1 << 61;
    let mut world = World::of(sliding(most, year, 1));
    let start = 56 * year;
    assert!(world.admits(start, most));
    // Half a year into the next window half of it weighs.
    assert_eq!(world.remaining(start + year + year / 2), most / 2);
    let needed = world.refusal(start + year, 1);
    // 1/most of a year is below a microsecond.
    assert_eq!(needed, after(1));
}

#[test]
fn overdraw_admits_as_soon_as_anything_is_left() {
    let mut world = World::ruled(sliding(10, MINUTE, 1), OVERDRAW);
    assert!(world.admits(NOW, 15));
    assert_eq!(world.remaining(NOW), 0);
    // 15 weigh exactly 10 after a third of the next window: above zero a microsecond later, not below zero at it.
    let mut nothing = world.clone();
    assert_eq!(nothing.refusal(NOW, 0), after(MINUTE + 20 * SECOND));
    // The refusal is charged too: 20 is all that the debt of one capacity allows.
    let (decision, outcomes) = world.ask(NOW, 9);
    assert!(!decision.admitted);
    assert_eq!(outcomes[0].units, 5);
    assert_eq!(decision.retry, after(MINUTE + 30 * SECOND + 1));
    let mut later = world.clone();
    assert!(!later.admits(NOW + MINUTE + 30 * SECOND, 1));
    assert!(world.admits(NOW + MINUTE + 30 * SECOND + 1, 1));
}

#[test]
fn the_small_form_is_used_where_it_fits() {
    use tollgate_core::Words;
    let words = |limit: Limit| limit.words();
    let plain = Rules::default;
    assert_eq!(words(limit(sliding(1_000_000, MINUTE, 1), plain())), Words::Two);
    assert_eq!(words(limit(sliding(1 << 32, MINUTE, 1), plain())), Words::Boxed);
    assert_eq!(words(limit(sliding(10, MINUTE, 2), plain())), Words::Boxed);
    assert_eq!(Micros::new(MINUTE).ceil_secs(), 60);
}
