//! A clock that counts ticks and is drawn gently towards the wall. Pure but for its source.

use std::sync::atomic::{AtomicU64, Ordering, fence};

use parking_lot::Mutex;

/// What the clock is made from.
pub(super) trait Source {
    /// A steady count; its rate is known about, and measured better as time goes on.
    fn ticks(&self) -> u64;

    /// How long so many ticks take, in nanoseconds, as far as is known at the start.
    fn nanos_of(&self, ticks: u64) -> u64;

    /// The system's monotonic time, in nanoseconds since any moment.
    fn nanos(&self) -> u64;

    /// The wall's time, in microseconds since the epoch.
    fn wall(&self) -> u64;
}

/// How often the clock compares itself with the system's: one second, in microseconds.
const WINDOW: u64 = 1_000_000;

/// Most microseconds that it goes too fast or too slow in a window, in order to meet the wall: 500 ppm.
const SLEW: i64 = 500;

/// Binary places of the rate. A window's ticks times the rate is a million times 2^40, below 2^60.
const PLACES: u32 = 40;

/// Time as a straight line, for one window at a time.
#[derive(Debug)]
pub(super) struct Slewed<S> {
    source: S,
    line: Line,
    tuning: Mutex<Tuning>,
}

/// The line, under a version that is odd while it changes.
#[derive(Debug)]
struct Line {
    version: AtomicU64,
    /// Where it begins.
    ticks: AtomicU64,
    micros: AtomicU64,
    /// Microseconds a tick, slew included, in units of 2^-40.
    rate: AtomicU64,
    /// Ticks for which it holds.
    window: AtomicU64,
}

/// What the next line is made from.
#[derive(Debug)]
struct Tuning {
    /// Microseconds a tick without slew, in units of 2^-40.
    base: u64,
    /// The system's monotonic time where the line begins.
    nanos: u64,
}

impl<S: Source> Slewed<S> {
    /// A clock that begins at the wall's time.
    pub(super) fn new(source: S) -> Slewed<S> {
        let nanos = source.nanos_of(1 << 32).max(1);
        // 2^32 ticks take `nanos`: nanos / 1000 / 2^32 microseconds a tick.
        let base = ((u128::from(nanos) << (PLACES - 32)) / 1000).max(1) as u64;
        let line = Line {
            version: AtomicU64::new(0),
            ticks: AtomicU64::new(source.ticks()),
            micros: AtomicU64::new(source.wall()),
            rate: AtomicU64::new(base),
            window: AtomicU64::new(window(base)),
        };
        let tuning = Mutex::new(Tuning { base, nanos: source.nanos() });
        Slewed { source, line, tuning }
    }

    /// Microseconds since the epoch; never fewer than before.
    #[inline]
    pub(super) fn now(&self) -> u64 {
        let version = self.line.version.load(Ordering::Acquire);
        let begin = self.line.ticks.load(Ordering::Relaxed);
        let micros = self.line.micros.load(Ordering::Relaxed);
        let rate = self.line.rate.load(Ordering::Relaxed);
        let window = self.line.window.load(Ordering::Relaxed);
        // A reading a little behind the line's beginning (another core's) is far outside the window.
        let passed = self.source.ticks().wrapping_sub(begin);
        fence(Ordering::Acquire);
        // The line was the right one even after the ticks were read.
        let same = self.line.version.load(Ordering::Relaxed) == version;
        if same && version & 1 == 0 && passed < window {
            micros + ((passed * rate) >> PLACES)
        } else {
            self.tune()
        }
    }

    /// Begins a new line where the old one ends, if it has ended, and reads it.
    #[cold]
    fn tune(&self) -> u64 {
        let mut tuning = self.tuning.lock();
        let begin = self.line.ticks.load(Ordering::Relaxed);
        let before = self.source.ticks();
        let nanos = self.source.nanos();
        let ticks = self.source.ticks().max(before);
        let passed = ticks.saturating_sub(begin);
        let window_ticks = self.line.window.load(Ordering::Relaxed);
        let slewed = product(passed.min(window_ticks), self.line.rate.load(Ordering::Relaxed));
        let mut here = self.line.micros.load(Ordering::Relaxed) + slewed;
        if passed < window_ticks {
            return here;
        }
        // Nobody asked for a while: beyond the window it went on without slew, by the system's count.
        let elapsed = nanos.saturating_sub(tuning.nanos);
        here += (elapsed / 1000).saturating_sub(product(window_ticks, tuning.base));
        // Where the readings were torn apart by a pause they say nothing of the rate.
        if ticks - before < window_ticks / 20_000 {
            tuning.base = rate_of(elapsed, passed, tuning.base);
        }
        tuning.nanos = nanos;
        let ahead = i64::try_from(self.source.wall()).unwrap_or(i64::MAX) - here as i64;
        let slew = i128::from(ahead.clamp(-SLEW, SLEW));
        let base = i128::from(tuning.base);
        let rate = (base + base * slew / i128::from(WINDOW)).max(1) as u64;
        self.line.draw(ticks, here, rate, window(tuning.base));
        here
    }
}

impl Line {
    /// Replaces the line; the caller is the only one.
    fn draw(&self, ticks: u64, micros: u64, rate: u64, window: u64) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        self.ticks.store(ticks, Ordering::Relaxed);
        self.micros.store(micros, Ordering::Relaxed);
        self.rate.store(rate, Ordering::Relaxed);
        self.window.store(window, Ordering::Relaxed);
        self.version.store(version + 2, Ordering::Release);
    }
}

/// Ticks of a window at `rate`.
fn window(rate: u64) -> u64 {
    ((u128::from(WINDOW) << PLACES) / u128::from(rate)) as u64
}

fn product(ticks: u64, rate: u64) -> u64 {
    ((u128::from(ticks) * u128::from(rate)) >> PLACES) as u64
}

/// The rate at which `ticks` took `nanos`; at most one in a thousand away from `known`, of which more would be an error.
fn rate_of(nanos: u64, ticks: u64, known: u64) -> u64 {
    let rate = (u128::from(nanos) << PLACES) / (1000 * u128::from(ticks.max(1)));
    let slack = known / 1000;
    u64::try_from(rate).unwrap_or(u64::MAX).clamp(known - slack, known + slack)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine whose ticks are nanoseconds.
    #[derive(Debug, Default)]
    struct Fake {
        nanos: AtomicU64,
        wall: AtomicU64,
    }

    impl Fake {
        fn pass(&self, micros: u64) {
            self.nanos.fetch_add(micros * 1000, Ordering::Relaxed);
            self.wall.fetch_add(micros, Ordering::Relaxed);
        }
    }

    impl Source for &Fake {
        fn ticks(&self) -> u64 {
            self.nanos()
        }

        fn nanos_of(&self, ticks: u64) -> u64 {
            ticks
        }

        fn nanos(&self) -> u64 {
            self.nanos.load(Ordering::Relaxed)
        }

        fn wall(&self) -> u64 {
            self.wall.load(Ordering::Relaxed)
        }
    }

    const START: u64 = 1_767_225_600_000_000;

    fn fake() -> Fake {
        Fake { nanos: AtomicU64::new(5_000_000_000), wall: AtomicU64::new(START) }
    }

    #[test]
    fn it_follows_the_wall_while_both_agree() {
        let fake = fake();
        let clock = Slewed::new(&fake);
        for second in 0..100 {
            let read = clock.now() as i64 - (START + second * 700_000) as i64;
            assert!(read.abs() <= 2, "{read} us away");
            fake.pass(700_000);
        }
    }

    #[test]
    fn clk_04_an_hour_that_the_wall_leaps_is_not_earned() {
        for leap in [3_600_000_000_i64, -3_600_000_000] {
            let fake = fake();
            let clock = Slewed::new(&fake);
            fake.wall.store((START as i64 + leap) as u64, Ordering::Relaxed);
            let mut last = clock.now();
            for _ in 0..10_000 {
                fake.pass(10_000);
                let now = clock.now();
                let step = now - last;
                assert!((9_990..=10_010).contains(&step), "a step of {step} us");
                last = now;
            }
            // A hundred seconds: a twentieth of one nearer to the wall.
            let drawn = last as i64 - (START + 100_000_000) as i64;
            assert!((drawn.abs() - 50_000).abs() <= 1_000, "drawn by {drawn} us");
            assert_eq!(drawn.signum(), leap.signum());
        }
    }

    #[test]
    fn it_meets_a_wall_that_is_a_little_off() {
        let fake = fake();
        let clock = Slewed::new(&fake);
        fake.wall.fetch_add(2_000, Ordering::Relaxed);
        for _ in 0..100 {
            fake.pass(100_000);
            clock.now();
        }
        let off = clock.now() as i64 - fake.wall.load(Ordering::Relaxed) as i64;
        assert!(off.abs() <= 5, "still {off} us off");
    }

    #[test]
    fn clk_03_a_reading_that_goes_back_is_the_one_before() {
        let fake = fake();
        let clock = Slewed::new(&fake);
        let mut last = clock.now();
        for step in [100_i64, 0, -1, 2, 1_500_000_000, -3, -999, 0, 5_000_000_000, -1] {
            fake.nanos.fetch_add(step as u64, Ordering::Relaxed);
            let now = clock.now();
            assert!(now >= last || step < 0 && last - now <= 1, "{last} then {now}");
            last = last.max(now);
        }
    }

    #[test]
    fn a_long_silence_is_counted_once() {
        let fake = fake();
        let clock = Slewed::new(&fake);
        fake.wall.fetch_add(60_000_000, Ordering::Relaxed);
        fake.pass(1_000_000);
        clock.now();
        fake.pass(3_600_000_000);
        // An hour without a reading: slewed for one window of it, not for all.
        let now = clock.now();
        let drawn = now as i64 - (START + 3_601_000_000) as i64;
        assert!((0..=1_000).contains(&drawn), "drawn by {drawn} us");
    }
}
