//! Exact numbers. Times are whole microseconds since the epoch at the door, rationals of a microsecond inside.

use num_bigint::BigInt;
use num_rational::BigRational;

/// An exact number.
pub(crate) type Rat = BigRational;

/// A whole number.
pub(crate) fn whole(number: impl Into<BigInt>) -> Rat {
    Rat::from_integer(number.into())
}

/// A fraction.
pub(crate) fn ratio(numerator: impl Into<BigInt>, denominator: impl Into<BigInt>) -> Rat {
    Rat::new(numerator.into(), denominator.into())
}

/// The largest whole number that is not above, for what is left of a limit: nothing is left below zero.
pub(crate) fn floor_from_zero(number: &Rat) -> u64 {
    let floor = number.floor().to_integer();
    if floor < BigInt::from(0) {
        0
    } else {
        u64::try_from(floor).expect("the generator's limits fit")
    }
}

/// The first whole microsecond that is not before.
pub(crate) fn ceil_micros(number: &Rat) -> i64 {
    i64::try_from(number.ceil().to_integer()).expect("the generator's spans fit")
}

/// The number, or zero where it is below zero.
pub(crate) fn from_zero(number: Rat) -> Rat {
    number.max(whole(0))
}
