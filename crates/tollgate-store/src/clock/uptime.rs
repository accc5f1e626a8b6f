//! Spans of this machine's own time.

use tollgate_core::Micros;

/// A moment of this machine's time since some fixed one, in microseconds. It goes on while the machine sleeps (Linux) and
/// knows of no date: what the life of something that another machine granted is counted on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uptime(u64);

impl Uptime {
    /// The moment `micros` microseconds after the fixed one.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Uptime {
        Uptime(micros)
    }

    /// Microseconds since the fixed moment.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// `span` later, or the last moment that there is.
    #[must_use]
    pub const fn plus(self, span: Micros) -> Uptime {
        Uptime(self.0.saturating_add(span.get()))
    }

    /// The span since `earlier`; nothing where that is later.
    #[must_use]
    pub const fn since(self, earlier: Uptime) -> Micros {
        Micros::new(self.0.saturating_sub(earlier.0))
    }
}
