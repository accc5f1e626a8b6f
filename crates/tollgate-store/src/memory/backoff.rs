//! Waiting a little after meeting another writer.

/// How often another writer was met in a row.
///
/// Who tries again at once takes the cache line from the one who is about to finish with it, and neither gets far; who
/// waits a little lets the other make several calls while the line is his.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    met: u32,
}

/// Pauses at most, in the processor's own.
const MOST: u32 = 16;

/// From so many meetings on, the other may have been put aside in the middle: his turn on this processor.
const PATIENCE: u32 = 16;

impl Backoff {
    /// Waits: twice as long as the time before, up to a bound.
    #[cold]
    pub(crate) fn pause(&mut self) {
        self.met += 1;
        if self.met > PATIENCE {
            std::thread::yield_now();
            return;
        }
        for _ in 0..(1_u32 << self.met.min(5)).min(MOST) / 2 {
            std::hint::spin_loop();
        }
    }
}
