//! The busiest second of a trace.

/// Counts requests by whole seconds of the epoch, whose order never goes back, and keeps the fullest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Peak {
    second: u64,
    count: u64,
    most: Busiest,
}

/// A second and what it held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Busiest {
    /// Seconds since the epoch.
    pub second: u64,
    /// Requests in it.
    pub count: u64,
}

impl Peak {
    #[inline]
    pub(crate) fn note(&mut self, second: u64) {
        if second != self.second {
            (self.second, self.count) = (second, 0);
        }
        self.count += 1;
        // The first of equals stays.
        if self.count > self.most.count {
            self.most = Busiest { second, count: self.count };
        }
    }

    pub(crate) fn most(&self) -> Busiest {
        self.most
    }
}
