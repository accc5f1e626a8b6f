//! A limit's parameters, as its script reads them.

use sha2::{Digest, Sha256};
use tollgate_core::{Algorithm, BucketTicks, LeakyBucket, Limit, Micros, Period, TokenBucket};

use super::Unsupported;
use super::argument::Arguments;
use super::exact::{MOST, Split, check};
use crate::redis::scripts::{Kind, Part};

/// What a script is told of a limit, worked out beforehand.
#[derive(Clone, Debug)]
pub(crate) struct Parameters {
    /// What the script does with it.
    pub(crate) part: Part,
    /// For how many milliseconds its state lasts, in decimal.
    pub(crate) lasting: Box<[u8]>,
    /// The bucket in ticks.
    pub(crate) ticks: Option<BucketTicks>,
    /// What the bucket's numbers mean: a state with another tag was written under other parameters.
    pub(crate) tag: u32,
    /// The most units that a count can reach.
    pub(crate) most: u64,
    /// A cell's length or a window, in microseconds; 0 for others.
    pub(crate) cell: u64,
    /// In how many cells a window is cut.
    pub(crate) cells: usize,
    /// The arguments behind those that depend on the call.
    fixed: Box<[f64]>,
}

/// In a replay, keys last an hour at least: the trace's clock has nothing to do with the server's.
pub(crate) const REPLAY: u64 = 3_600_000;

impl Parameters {
    /// The parameters of `limit`. In a replay, with `virtual_time`, keys last longer.
    ///
    /// # Errors
    /// [`Unsupported`] where doubles are too narrow for it.
    pub(crate) fn new(limit: &Limit, virtual_time: bool) -> Result<Parameters, Unsupported> {
        check(limit)?;
        let mut parameters = match limit.bucket_ticks() {
            Some(ticks) => bucket(limit, ticks),
            None => counting(limit),
        };
        let rules = limit.rules();
        parameters.part.overdraw = rules.overdraw;
        parameters.part.counts = rules.count_refused;
        parameters.part.shadow = rules.shadow;
        let lasting = parameters.lasting(limit, parameters.part.owing());
        let lasting = if virtual_time { lasting.max(REPLAY) } else { lasting };
        parameters.lasting = lasting.to_string().into_bytes().into();
        Ok(parameters)
    }

    /// The same where a cost is charged whatever anybody says: settling upwards.
    pub(crate) fn by_force(&self, limit: &Limit, virtual_time: bool) -> Parameters {
        let lasting = self.lasting(limit, true);
        let lasting = if virtual_time { lasting.max(REPLAY) } else { lasting };
        let part = Part { overdraw: false, counts: true, shadow: true, ..self.part };
        Parameters { part, lasting: lasting.to_string().into_bytes().into(), ..self.clone() }
    }

    /// For how many milliseconds its state lasts.
    pub(crate) fn milliseconds(&self) -> u64 {
        std::str::from_utf8(&self.lasting).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// Milliseconds after which a state that was just written counts nothing any more. Expiry counts by the millisecond.
    fn lasting(&self, limit: &Limit, owing: bool) -> u64 {
        let ceil = |micros: u64| micros.div_ceil(1000);
        match (limit.algorithm(), &self.ticks) {
            (_, Some(ticks)) => {
                let deepest = if owing { ticks.ceiling } else { ticks.capacity };
                ceil((deepest / u128::from(ticks.per_micro)) as u64) + 3
            }
            (Algorithm::SlidingLog(spec), _) => ceil(spec.window.get()) + 2,
            (Algorithm::Concurrency(spec), _) => ceil(spec.ttl.get()) + 2,
            // Windows and periods end by themselves.
            _ => 0,
        }
    }

    /// The arguments of a call of `cost`, in `period` where this is a quota.
    pub(crate) fn arguments(&self, cost: u64, period: Option<Period>, into: &mut Arguments) {
        match (self.part.kind, &self.ticks) {
            (Kind::Closed, _) => return,
            (_, Some(ticks)) => {
                let step = (u128::from(cost) * u128::from(ticks.unit)).min(ticks.ceiling);
                self.step(step, cost > 0, into);
                return;
            }
            _ => {}
        }
        // A larger cost is beyond every limit all the same.
        into.push(cost.min(MOST) as f64);
        if self.part.kind == Kind::Quota {
            let Some((limit, rest)) = self.fixed.split_first() else { return };
            let bounds = period.map_or([0.0; 2], |period| {
                [period.start.as_micros() as f64, period.end.as_micros() as f64]
            });
            into.push(*limit);
            into.extend(bounds);
            self.rest(rest, into);
        } else {
            self.rest(&self.fixed, into);
        }
    }

    /// The arguments of a bucket that `step` ticks are asked of.
    pub(crate) fn step(&self, step: u128, asks: bool, into: &mut Arguments) {
        let Some(ticks) = &self.ticks else { return };
        into.extend(ticks.split(step.min(ticks.ceiling)));
        if self.part.overdraw {
            into.push(f64::from(u8::from(asks)));
        }
        into.extend(self.fixed.iter().copied());
    }

    /// The fixed arguments of a count; the last of them is for those that can owe.
    fn rest(&self, fixed: &[f64], into: &mut Arguments) {
        let kept =
            fixed.len() - usize::from(!self.part.owing() && self.part.kind != Kind::Concurrency);
        into.extend(fixed.iter().take(kept).copied());
    }
}

fn bucket(limit: &Limit, ticks: BucketTicks) -> Parameters {
    let mut part = Part::new(Kind::Bucket);
    let tag = tag(&ticks);
    let mut fixed = Vec::with_capacity(10);
    fixed.extend(ticks.split(ticks.capacity));
    fixed.extend(ticks.split(ticks.ceiling));
    fixed.extend([ticks.per_micro as f64, f64::from(tag)]);
    match limit.algorithm() {
        Algorithm::LeakyBucket(LeakyBucket { nodelay: false, max_wait, .. }) => {
            part.waits = true;
            if let Some(wait) = max_wait {
                part.bounded = true;
                let longest = u128::from(wait.get()) * u128::from(ticks.per_micro);
                fixed.extend(ticks.split(longest.min(ticks.ceiling)));
            }
        }
        Algorithm::TokenBucket(TokenBucket { empty_at: Some(at), .. }) => {
            part.empty = true;
            let [micros, rest] = ticks.split(ticks.capacity);
            fixed.extend([at.as_micros() as f64 + micros, rest]);
        }
        _ => {}
    }
    Parameters { tag, ticks: Some(ticks), ..plain(part, fixed) }
}

fn counting(limit: &Limit) -> Parameters {
    // Below nothing, so that a limit of nothing refuses also who asks for nothing.
    let units = |limit: u64| if limit == 0 { -1.0 } else { limit as f64 };
    let span = |span: Micros| span.get() as f64;
    let most = limit.most();
    let with_most = |kind, mut fixed: Vec<f64>, cell: u64| {
        fixed.push(most as f64);
        Parameters { most, cell, ..plain(Part::new(kind), fixed) }
    };
    match limit.algorithm() {
        Algorithm::FixedWindow(spec) => {
            let fixed = vec![units(spec.limit), span(spec.window)];
            with_most(Kind::FixedWindow, fixed, spec.window.get())
        }
        Algorithm::Quota(spec) => with_most(Kind::Quota, vec![units(spec.limit)], 0),
        Algorithm::SlidingWindow(spec) => {
            let cell = spec.window.get() / u64::from(spec.cells);
            let mut fixed = vec![units(spec.limit), cell as f64];
            let one = spec.cells == 1;
            fixed.extend((!one).then_some(f64::from(spec.cells)));
            let kind = if one { Kind::SlidingWindow } else { Kind::SlidingCells };
            let mut parameters = with_most(kind, fixed, cell);
            parameters.cells = spec.cells as usize;
            let product = u128::from(parameters.most) * u128::from(cell);
            parameters.part.wide = product >= 2 * u128::from(MOST);
            parameters
        }
        Algorithm::SlidingLog(spec) => {
            let fixed = vec![units(spec.limit), span(spec.window), spec.limit as f64];
            Parameters { cell: spec.window.get(), ..plain(Part::new(Kind::SlidingLog), fixed) }
        }
        Algorithm::Concurrency(spec) => {
            let fixed = vec![units(spec.limit), span(spec.ttl)];
            Parameters { most, cell: spec.ttl.get(), ..plain(Part::new(Kind::Concurrency), fixed) }
        }
        Algorithm::TokenBucket(_) | Algorithm::LeakyBucket(_) => {
            plain(Part::new(Kind::Closed), Vec::new())
        }
    }
}

fn plain(part: Part, fixed: Vec<f64>) -> Parameters {
    let fixed = fixed.into();
    Parameters {
        part,
        lasting: Box::default(),
        ticks: None,
        tag: 0,
        most: 0,
        cell: 0,
        cells: 0,
        fixed,
    }
}

/// A digest of what makes a bucket's state mean what it means; never 0, which stands for no state.
fn tag(ticks: &BucketTicks) -> u32 {
    let mut digest = Sha256::new();
    digest.update(ticks.per_micro.to_le_bytes());
    digest.update(ticks.unit.to_le_bytes());
    digest.update(ticks.capacity.to_le_bytes());
    let bytes: [u8; 32] = digest.finalize().into();
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]).max(1)
}
