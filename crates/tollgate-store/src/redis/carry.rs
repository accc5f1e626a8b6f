//! A reload: buckets that were written under other parameters.
//!
//! A bucket's state carries a tag of its parameters. Where a script finds a foreign one it changes nothing and says so; the
//! level is then worked out here, by `Limit::carry_over`, written in the place of what was read unless that has changed
//! meanwhile, and the script is called again. Nodes that run before and after a reload hand a bucket back and forth so.
//!
//! A bucket of which units are on lease goes on as `lent.rs` says.
//!
//! The parameters of a foreign tag are those of an earlier `define`, or another node's, which keeps them on the server.

use tollgate_core::{
    Algorithm, Burst, LeakyBucket, Limit, Micros, Rate, Rules, State, Timestamp, TokenBucket, Words,
};

use super::counter::Live;
use super::lent::{Ended, is_leased};
use super::wire::{Parameters, decode_bucket, encode_bucket, whole};

/// Parameters that this process counted by earlier, the newest first; a few reloads back, others are asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known(Vec<(u32, Limit)>);

/// How many earlier parameters are remembered.
const REMEMBERED: usize = 8;

impl Known {
    /// What is known after `old`: what it knew, and its own.
    pub(crate) fn after(old: Option<(&Known, &Limit)>) -> Known {
        let Some((known, limit)) = old else { return Known::default() };
        let own = Parameters::new(limit, false).ok().filter(|own| own.ticks.is_some());
        let own = own.map(|own| (own.tag, limit.clone()));
        Known(own.into_iter().chain(known.0.iter().cloned()).take(REMEMBERED).collect())
    }

    /// The limit whose parameters have this tag.
    pub(crate) fn find(&self, tag: u32) -> Option<&Limit> {
        self.0.iter().find(|(known, _)| *known == tag).map(|(_, limit)| limit)
    }
}

/// A state to be written in the place of one under a foreign tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Carried {
    pub(crate) raw: Vec<u8>,
    /// For how many milliseconds it lasts.
    pub(crate) lasting: u64,
}

/// What `raw`, written under the parameters of `old`, is under those of `live` at `now`. Where nobody knows the old ones, the
/// bucket is full when it would have been.
pub(crate) fn carry(live: &Live, old: Option<&Limit>, raw: &[u8], now: u64) -> Option<Carried> {
    let ticks = live.parameters.ticks.as_ref()?;
    let old = old.and_then(|old| Some((old, old.bucket_ticks()?)));
    let per_micro = old.as_ref().map(|(_, ticks)| ticks.per_micro);
    let ended = if is_leased(raw) { Some(Ended::read(raw, per_micro)?) } else { None };
    let mut state = match &old {
        Some((old, ticks)) => {
            let before = match ended {
                Some(ended) => state_of(old, ended.full)?,
                None => decode_bucket(old, ticks, raw)?,
            };
            live.limit.carry_over(old, before, Timestamp::from_micros(now))
        }
        None => {
            let full = match ended {
                Some(ended) => ended.full + 1,
                None => u128::from(whole(raw.get(..8)?)?) + 1,
            };
            state_of(&live.limit, full * u128::from(ticks.per_micro))?
        }
    };
    if let Some(ended) = ended {
        // What is out then is missing from the new capacity as well.
        let units = old.map_or(0, |(_, before)| ended.out / u128::from(before.unit));
        let end = u128::from(ended.last) * u128::from(ticks.per_micro);
        let held_back = end + units * u128::from(ticks.unit);
        if full_at(&state) < held_back {
            state = state_of(&live.limit, held_back)?;
        }
    }
    let (raw, full) = encode_bucket(&state, &live.parameters)?;
    Some(Carried { raw, lasting: full.saturating_sub(now).div_ceil(1000) + 3 })
}

/// The state of a bucket that is full at `moment`, in ticks.
fn state_of(limit: &Limit, moment: u128) -> Option<State> {
    Some(match limit.words() {
        Words::One => State::Bucket(u64::try_from(moment).ok()?),
        _ => State::WideBucket(moment),
    })
}

/// When a bucket is full, in ticks.
fn full_at(state: &State) -> u128 {
    match state {
        State::Bucket(word) => u128::from(*word),
        State::WideBucket(word) => *word,
        _ => 0,
    }
}

/// A bucket's parameters as one line of text, for other nodes; `None` where it is no bucket.
///
/// ```text
/// token <units> per <microseconds> burst <units> units|micros debt <units>|same
/// leaky <units> per <microseconds> burst <units> units debt same
/// ```
pub(crate) fn spell(limit: &Limit) -> Option<String> {
    let (name, rate, burst) = match limit.algorithm() {
        Algorithm::TokenBucket(spec) => ("token", spec.rate, spec.burst),
        Algorithm::LeakyBucket(spec) => ("leaky", spec.rate, Burst::Units(spec.burst)),
        _ => return None,
    };
    let (burst, measure) = match burst {
        Burst::Units(units) => (units, "units"),
        Burst::Span(span) => (span.get(), "micros"),
    };
    let debt = limit.rules().max_debt.map_or("same".to_owned(), |units| units.to_string());
    let Rate { count, per } = rate;
    Some(format!("{name} {count} per {} burst {burst} {measure} debt {debt}", per.get()))
}

/// The limit that [`spell`] wrote, as far as its state's meaning goes.
pub(crate) fn parse(text: &str) -> Option<Limit> {
    let words: Vec<&str> = text.split(' ').collect();
    let [name, count, "per", per, "burst", burst, measure, "debt", debt] = words.as_slice() else {
        return None;
    };
    let rate = Rate { count: count.parse().ok()?, per: Micros::new(per.parse().ok()?) };
    let burst: u64 = burst.parse().ok()?;
    let max_debt = match *debt {
        "same" => None,
        units => Some(units.parse().ok()?),
    };
    let rules = Rules { overdraw: max_debt.is_some(), max_debt, ..Rules::default() };
    let algorithm = match (*name, *measure) {
        ("leaky", "units") => {
            Algorithm::LeakyBucket(LeakyBucket { rate, burst, nodelay: true, max_wait: None })
        }
        ("token", measure) => {
            let burst = match measure {
                "units" => Burst::Units(burst),
                "micros" => Burst::Span(Micros::new(burst)),
                _ => return None,
            };
            Algorithm::TokenBucket(TokenBucket { rate, burst, empty_at: None })
        }
        _ => return None,
    };
    Limit::new(algorithm, rules).ok()
}
