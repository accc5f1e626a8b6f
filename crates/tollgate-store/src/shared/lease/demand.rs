//! How much was asked of a key lately.

use tollgate_core::Micros;

use crate::Uptime;

/// Units asked, admitted or not, in this stretch of time and the one before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Demand {
    stretch: u64,
    now: u64,
    before: u64,
}

impl Demand {
    /// `units` are asked at `at`; stretches are `horizon` long.
    #[inline]
    pub(crate) fn note(&mut self, units: u64, at: Uptime, horizon: Micros) {
        self.roll(at, horizon);
        self.now = self.now.saturating_add(units);
    }

    /// What the next `horizon` will probably ask.
    #[inline]
    pub(crate) fn expected(&mut self, at: Uptime, horizon: Micros) -> u64 {
        self.roll(at, horizon);
        self.now.max(self.before)
    }

    fn roll(&mut self, at: Uptime, horizon: Micros) {
        let stretch = at.as_micros() / horizon.get().max(1);
        match stretch.saturating_sub(self.stretch) {
            0 => return,
            1 => self.before = self.now,
            _ => self.before = 0,
        }
        (self.stretch, self.now) = (stretch, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_of_two_stretches_is_expected_again() {
        let horizon = Micros::new(100);
        let mut demand = Demand::default();
        demand.note(5, Uptime::from_micros(10), horizon);
        assert_eq!(demand.expected(Uptime::from_micros(99), horizon), 5);
        demand.note(3, Uptime::from_micros(110), horizon);
        assert_eq!(
            demand.expected(Uptime::from_micros(199), horizon),
            5,
            "not less for being young"
        );
        assert_eq!(demand.expected(Uptime::from_micros(200), horizon), 3);
        assert_eq!(demand.expected(Uptime::from_micros(300), horizon), 0);
        demand.note(7, Uptime::from_micros(900), horizon);
        assert_eq!(demand.expected(Uptime::from_micros(901), horizon), 7);
    }
}
