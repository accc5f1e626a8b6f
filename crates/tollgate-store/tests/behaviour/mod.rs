//! The behaviour suite: each function takes a fresh store and panics where it misbehaves. A new store gets a module with a
//! function that makes one, and `behaviours!`.

pub(crate) mod after;
pub(crate) mod limits;
pub(crate) mod reload;
pub(crate) mod several;
pub(crate) mod world;

/// Every behaviour, handed to the macro `$each` room by room.
macro_rules! rooms {
    ($each:ident $store:ident) => {
        $crate::behaviour::$each!($store, several:
            mul_01_refused_by_one_limit_charges_none
            mul_03_an_oversize_request_takes_nothing
            a_refused_request_takes_nothing_from_any
            equal_limit_and_key_are_added_before_the_check
            keys_and_classes_count_apart
            every_refusing_limit_is_named
            more_charges_than_fit_in_line
            count_refused_charges_though_another_refuses);
        $crate::behaviour::$each!($store, limits:
            every_algorithm_admits_its_limit_and_no_more
            retry_times_hold_from_both_sides
            clk_01_a_step_back_stands_still
            clk_07_a_late_command_with_an_old_time
            str_03_a_slot_is_given_back_and_its_key_forgotten
            str_01_slots_of_the_dead_free_themselves
            num_18_a_limit_of_zero_refuses_everything
            unknown_limits_and_missing_periods_are_errors);
        $crate::behaviour::$each!($store, after:
            a_settle_gives_back_in_its_own_window
            a_settle_upwards_charges_into_debt
            a_bucket_gets_back_less_its_refill
            a_quota_gives_back_in_its_own_period
            peeking_takes_nothing
            a_reset_forgets_one_key);
        $crate::behaviour::$each!($store, reload:
            rel_01_a_reload_of_the_same_refills_nothing
            rel_03_a_lowered_limit_leaves_nothing
            mul_05_a_raised_quota_counts_admissions_only
            a_wider_word_takes_the_counts_over
            another_shape_begins_fresh
            a_removed_limit_answers_until_the_next_set
            a_receipt_outlives_a_reload
            a_bucket_that_starts_empty_is_emptied_once);
    };
}

/// A test for each behaviour, against the stores that `$store` makes.
#[allow(unused_macros, reason = "each test binary uses one of the ways")]
macro_rules! behaviours {
    ($store:ident) => {
        $crate::behaviour::rooms!(as_tests $store);
    };
}

#[allow(unused_macros, reason = "each test binary uses one of the ways")]
macro_rules! as_tests {
    ($store:ident, $room:ident: $($name:ident)+) => {
        mod $room {
            use super::*;
            $(
                #[test]
                fn $name() {
                    // None where a part that it needs is not installed.
                    if let Some(store) = $store() {
                        $crate::behaviour::world::run($crate::behaviour::$room::$name(store));
                    }
                }
            )+
        }
    };
}

/// Runs one behaviour after the other, each on a store that `$store` makes.
#[allow(unused_macros, reason = "each test binary uses one of the ways")]
macro_rules! every_behaviour {
    ($store:ident) => {
        $crate::behaviour::rooms!(in_turn $store);
    };
}

#[allow(unused_macros, reason = "each test binary uses one of the ways")]
macro_rules! in_turn {
    ($store:ident, $room:ident: $($name:ident)+) => {
        $($crate::behaviour::world::run($crate::behaviour::$room::$name($store()));)+
    };
}

#[allow(unused_imports, reason = "each test binary uses a part of it")]
pub(crate) use {as_tests, behaviours, every_behaviour, in_turn, rooms};
