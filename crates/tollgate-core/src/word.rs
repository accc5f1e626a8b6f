//! The two words that a bucket's ticks are counted in.

use core::ops::{Add, Mul, Rem, Sub};

/// `u64` where a limit's products fit it, else `u128`. Which one is chosen when the limit is built, so that nothing here overflows.
pub(crate) trait Word:
    Copy
    + Ord
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Rem<Output = Self>
    + From<u64>
{
    /// `self - other`, or nothing.
    fn beyond(self, other: Self) -> Self;
    /// `self / by`, rounded down; the caller knows that it fits 64 bits.
    fn divided(self, by: Self) -> u64;
    /// `self / by`, rounded up; the caller knows that it fits 64 bits.
    fn divided_up(self, by: Self) -> u64;
    /// The low 64 bits; the caller knows that there are no more.
    fn low(self) -> u64;
    /// The word of `value`; the caller knows that it fits.
    fn of(value: u128) -> Self;
    /// For arithmetic across words.
    fn wide(self) -> u128;
}

impl Word for u64 {
    #[inline]
    fn beyond(self, other: u64) -> u64 {
        self.saturating_sub(other)
    }

    #[inline]
    fn divided(self, by: u64) -> u64 {
        self / by
    }

    #[inline]
    fn divided_up(self, by: u64) -> u64 {
        self.div_ceil(by)
    }

    #[inline]
    fn low(self) -> u64 {
        self
    }

    fn of(value: u128) -> u64 {
        value as u64
    }

    fn wide(self) -> u128 {
        u128::from(self)
    }
}

impl Word for u128 {
    #[inline]
    fn beyond(self, other: u128) -> u128 {
        self.saturating_sub(other)
    }

    #[inline]
    fn divided(self, by: u128) -> u64 {
        (self / by) as u64
    }

    #[inline]
    fn divided_up(self, by: u128) -> u64 {
        self.div_ceil(by) as u64
    }

    #[inline]
    fn low(self) -> u64 {
        self as u64
    }

    fn of(value: u128) -> u128 {
        value
    }

    fn wide(self) -> u128 {
        self
    }
}
