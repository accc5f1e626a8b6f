//! The only file of the workspace that reads the clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tollgate_core::Timestamp;

mod slew;
mod uptime;

use slew::{Slewed, Source};
pub use uptime::Uptime;

/// What tells the time. A clock of one process never goes back.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// Wall time at start plus monotonic time, slewed towards the wall by at most half a millisecond a second.
///
/// It never goes back, and a leap of the wall (a suspended machine, a corrected time) hands out no tokens. It counts ticks
/// of the processor where they are steady, and compares itself once a second with the system's clocks. [`SystemClock::new`]
/// may take some milliseconds the first time in a process: it measures the ticks.
#[derive(Debug)]
pub struct SystemClock(Slewed<Machine>);

impl SystemClock {
    /// A clock that starts from the wall's time.
    #[must_use]
    pub fn new() -> SystemClock {
        SystemClock(Slewed::new(Machine { ticks: quanta::Clock::new(), start: Instant::now() }))
    }
}

impl Default for SystemClock {
    fn default() -> SystemClock {
        SystemClock::new()
    }
}

impl Clock for SystemClock {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.now())
    }
}

/// The clocks of this machine.
#[derive(Debug)]
struct Machine {
    ticks: quanta::Clock,
    start: Instant,
}

impl Source for Machine {
    #[inline]
    fn ticks(&self) -> u64 {
        self.ticks.raw()
    }

    fn nanos_of(&self, ticks: u64) -> u64 {
        self.ticks.delta_as_nanos(0, ticks)
    }

    fn nanos(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn wall(&self) -> u64 {
        // A wall before 1970 is as wrong as one that stands at it.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
    }
}

/// A clock that stands still until it is set: for tests and virtual time.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    /// A clock that reads `now`.
    #[must_use]
    pub fn new(now: Timestamp) -> ManualClock {
        ManualClock(AtomicU64::new(now.as_micros()))
    }

    /// Moves to `now`; an earlier moment is ignored.
    pub fn set(&self, now: Timestamp) {
        self.0.fetch_max(now.as_micros(), Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::Relaxed))
    }
}

/// Another clock's reading, kept until [`CachedClock::refresh`]: for those who would rather read the clock once in a while
/// than once a decision. A retry time is then exact as of the last refresh.
#[derive(Debug, Default)]
pub struct CachedClock<C> {
    source: C,
    now: AtomicU64,
}

impl<C: Clock> CachedClock<C> {
    /// A clock that reads `source` now.
    #[must_use]
    pub fn new(source: C) -> CachedClock<C> {
        let now = AtomicU64::new(source.now().as_micros());
        CachedClock { source, now }
    }

    /// Reads the source again, and says what it read.
    pub fn refresh(&self) -> Timestamp {
        let now = self.source.now().as_micros();
        Timestamp::from_micros(self.now.fetch_max(now, Ordering::Relaxed).max(now))
    }
}

impl<C: Clock> Clock for CachedClock<C> {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.now.load(Ordering::Relaxed))
    }
}

impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

/// Measures a span by the processor's ticks: for metrics, never for decisions.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(quanta::Instant);

impl Stopwatch {
    /// Begins now.
    #[must_use]
    pub fn start() -> Stopwatch {
        Stopwatch(quanta::Instant::now())
    }

    /// Nanoseconds since it began.
    #[must_use]
    pub fn nanos(self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Microseconds of the system's monotonic clock, whose beginning is its own affair: for peers on this machine that compare
/// it with their own reading, such as a service manager.
#[must_use]
pub fn monotonic_micros() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let (seconds, nanos) = (time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs());
    seconds.saturating_mul(1_000_000).saturating_add(nanos / 1_000)
}

impl Uptime {
    /// Reads the clock.
    #[must_use]
    #[inline]
    pub fn now() -> Uptime {
        Uptime::from_micros(since_boot())
    }
}

/// A clock that runs while the machine sleeps. Elsewhere than on Linux the system's monotonic clock has to do.
#[cfg(target_os = "linux")]
#[inline]
fn since_boot() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let (seconds, nanos) = (time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs());
    seconds.saturating_mul(1_000_000).saturating_add(nanos / 1_000)
}

#[cfg(not(target_os = "linux"))]
fn since_boot() -> u64 {
    use std::sync::OnceLock;
    static START: OnceLock<Instant> = OnceLock::new();
    let elapsed = START.get_or_init(Instant::now).elapsed();
    u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX)
}
