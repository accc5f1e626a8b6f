//! How fast a limit is asked about: what follows from its parameters alone.

use tollgate_core::{Algorithm, Limit, Micros};

/// How long a generation of a bucket's leases is. A lease lives one to two of them, and a dead node's units are missing
/// from the bucket's capacity as long as that.
pub(crate) const GENERATION: Micros = Micros::from_secs(2);
/// Batches are to last about this long.
const HORIZON: u64 = 500_000;
/// Nobody asks more often than this where there is less than is wanted.
const PAUSE: u64 = 5_000;
/// With less than this expected in a horizon nothing is borrowed: each request is taken for by itself.
pub(crate) const LEAST_DEMAND: u64 = 4;
/// The most that is borrowed at once.
pub(crate) const LARGEST_BATCH: u64 = 1 << 30;
/// A lease is used this much less than the store says, for clocks that run at different speeds: a part in so many of its
/// life, and a millisecond.
const DRIFT: u64 = 500;
const MARGIN: u64 = 1_000;

/// A limit's pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    /// How long a batch is to last, and how long units may lie idle.
    pub(crate) horizon: Micros,
    /// How long the node waits after an answer of less than it wanted, where more comes with time.
    pub(crate) pause: Micros,
    /// More comes with time, and not only with the next window.
    pub(crate) refills: bool,
    /// What is returned after a cell's end still counts for something.
    pub(crate) takes_late: bool,
}

impl Pace {
    /// The pace of `limit`; `None` where it cannot be leased.
    pub(crate) fn of(limit: &Limit) -> Option<Pace> {
        let windows = |cell: u64, slides: bool| Pace {
            horizon: Micros::new((cell / 4).clamp(1, HORIZON)),
            pause: Micros::new((cell / 64).min(PAUSE)),
            refills: slides,
            takes_late: slides,
        };
        match limit.algorithm() {
            Algorithm::TokenBucket(_) => Some(bucket(limit)),
            Algorithm::LeakyBucket(spec) if spec.nodelay => Some(bucket(limit)),
            Algorithm::FixedWindow(window) => Some(windows(window.window.get(), false)),
            Algorithm::Quota(_) => Some(windows(u64::MAX, false)),
            Algorithm::SlidingWindow(window) => {
                Some(windows(window.window.get() / u64::from(window.cells.max(1)), true))
            }
            Algorithm::LeakyBucket(_) | Algorithm::SlidingLog(_) | Algorithm::Concurrency(_) => {
                None
            }
        }
    }

    /// How long a node uses what the store says ends in `lasts`, from the moment at which it sent its request.
    pub(crate) fn life(lasts: Micros) -> Micros {
        Micros::new(lasts.get().saturating_sub(lasts.get() / DRIFT).saturating_sub(MARGIN))
    }
}

/// The pace of a bucket, by how long it takes from empty to full.
fn bucket(limit: &Limit) -> Pace {
    let filling = limit.bucket_ticks().map_or(0, |ticks| {
        u64::try_from(ticks.capacity / u128::from(ticks.per_micro)).unwrap_or(u64::MAX)
    });
    Pace {
        horizon: Micros::new(HORIZON),
        pause: Micros::new((filling / 16).min(PAUSE)),
        refills: true,
        takes_late: false,
    }
}
