//! Leases: one call hears a node's reports, takes for those who wait, and lends.

use tollgate_core::{BucketTicks, Charged, Limit, Micros, Period, Timestamp};

use super::RedisStore;
use super::ask::{HANDOVERS, bytes};
use super::key::KeyName;
use super::lent::lent_tag;
use super::plan::{Amount, Ask};
use super::scripts::{Kind, forget, lease};
use super::servers::Deadline;
use super::wire::{Arguments, MOST, Split, decode, whole};
use crate::shared::lease::{Answer, GENERATION, Report, Request};
use crate::{LimitId, StoreError, Trouble};

/// Milliseconds that a key lasts beyond its state, for a server whose clock for expiry was read a little earlier.
const SPARE: f64 = 2.0;

/// What a bucket's script is asked beyond an exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Beside {
    Nothing,
    /// Forget the key, but for what is out.
    Forget,
    /// Give back so many ticks that were charged at that moment.
    Back(u128, Timestamp),
}

impl RedisStore {
    /// One exchange about a leased key. `period` is the one around now, for a quota; `now` counts in a replay.
    ///
    /// # Errors
    /// [`StoreError`] where there is no answer. What was reported and what was lent are then not known to anybody, and never
    /// asked again.
    pub(crate) async fn exchange(
        &self,
        limit: LimitId,
        key: u128,
        request: &Request,
        period: Option<Period>,
        now: Timestamp,
    ) -> Result<Answer, StoreError> {
        let deadline = self.0.servers.deadline();
        let registry = self.0.registry.load_full();
        let counter = registry.get(limit)?;
        let ask = self.ask_of(counter, key, Amount::Units(0), period, deadline).await?;
        let arguments = match ask.parameters.part.kind {
            Kind::Bucket => self.of_bucket(&ask, request, Beside::Nothing, now)?,
            _ => self.of_window(&ask, request, now),
        };
        self.tell(&ask, &arguments, deadline).await
    }

    /// Gives back to a bucket of which units are on lease what was charged at an earlier moment.
    pub(crate) async fn fill_leased(
        &self,
        ask: &Ask<'_>,
        back: u128,
        charged: &Charged,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<(), StoreError> {
        let beside = Beside::Back(back, charged.at);
        let arguments = self.of_bucket(ask, &Request::nothing(), beside, now)?;
        self.tell(ask, &arguments, deadline).await.map(drop)
    }

    /// Forgets a key, but for what is out on lease. `false`: nothing of it can be.
    pub(crate) async fn forget_leased(
        &self,
        ask: &Ask<'_>,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<bool, StoreError> {
        let parameters = ask.parameters;
        match parameters.part.kind {
            Kind::Bucket => {
                let arguments = self.of_bucket(ask, &Request::nothing(), Beside::Forget, now)?;
                self.tell(ask, &arguments, deadline).await?;
            }
            Kind::FixedWindow | Kind::Quota | Kind::SlidingWindow | Kind::SlidingCells => {
                let slides = parameters.cells > 0;
                let mut numbers = self.head(now);
                numbers.push(if slides { parameters.cell as f64 } else { 0.0 });
                numbers.push(parameters.cells as f64);
                let keys = [ask.name.clone(), out_of(&ask.name)];
                let arguments = [numbers.as_bytes()];
                self.0.servers.call(deadline, ask.slot, forget(), &keys, &arguments).await?;
            }
            Kind::Closed | Kind::SlidingLog | Kind::Concurrency => return Ok(false),
        }
        Ok(true)
    }

    async fn tell(
        &self,
        ask: &Ask<'_>,
        arguments: &Arguments,
        deadline: Deadline,
    ) -> Result<Answer, StoreError> {
        let kind = ask.parameters.part.kind;
        let script = lease(kind).ok_or(Trouble::Unexpected)?;
        let mut keys = vec![ask.name.clone()];
        if kind != Kind::Bucket {
            keys.push(out_of(&ask.name));
        }
        for _ in 0..HANDOVERS {
            let arguments = [arguments.as_bytes()];
            let call = self.0.servers.call(deadline, ask.slot, script, &keys, &arguments);
            let reply = bytes(call.await?)?;
            match Reply::read(&reply).ok_or(Trouble::Unexpected)? {
                Reply::Done(numbers, raw) => return answer(ask, numbers, raw),
                Reply::OtherPeriod(now) => {
                    return Err(StoreError::OtherPeriod(Timestamp::from_micros(now)));
                }
                Reply::Foreign(now, raw) => self.carry(ask, raw, now, deadline).await?,
            }
        }
        Err(Trouble::Unexpected.into())
    }

    /// The arguments of `lua/lease/bucket.lua`.
    fn of_bucket(
        &self,
        ask: &Ask<'_>,
        request: &Request,
        beside: Beside,
        now: Timestamp,
    ) -> Result<Arguments, StoreError> {
        let ticks = ask.parameters.ticks.as_ref().ok_or(Trouble::Unexpected)?;
        let tag = ask.parameters.tag;
        let beyond = ticks.capacity + 1;
        let units = |count: u64| u128::from(count).saturating_mul(u128::from(ticks.unit));
        // What fits into no bucket is as good as a little more than all of it.
        let bounded = |span: u128| ticks.split(span.min(beyond));
        let mut numbers = self.head(now);
        numbers.extend([f64::from(tag), f64::from(lent_tag(tag)), ticks.per_micro as f64]);
        numbers.extend(ticks.split(ticks.capacity));
        numbers.extend(ticks.split(ticks.ceiling));
        numbers.extend(fresh(&ask.live.limit, ticks));
        numbers.push(GENERATION.get() as f64);
        numbers.extend(bounded(units(request.cost)));
        numbers.push(request.times.min(MOST) as f64);
        numbers.extend(bounded(units(1)));
        numbers.extend(bounded(units(1).saturating_mul(u128::from(request.parts))));
        numbers.push(request.want.min(MOST) as f64);
        let (forget, back, at) = match beside {
            Beside::Nothing => (0.0, 0, Timestamp::EPOCH),
            Beside::Forget => (1.0, 0, Timestamp::EPOCH),
            Beside::Back(back, at) => (0.0, back, at),
        };
        numbers.push(forget);
        numbers.extend(ticks.split(back.min(ticks.ceiling)));
        numbers.push(at.as_micros() as f64);
        for Report { term, unspent, spent } in &request.reports {
            numbers.push(*term as f64);
            numbers.extend(bounded(units(unspent.saturating_add(*spent))));
            numbers.extend(bounded(units(*unspent)));
        }
        Ok(numbers)
    }

    /// The arguments of `lua/lease/count.lua` and `lua/lease/sliding.lua`.
    fn of_window(&self, ask: &Ask<'_>, request: &Request, now: Timestamp) -> Arguments {
        let parameters = ask.parameters;
        let mut numbers = self.head(now);
        numbers.push(ask.live.limit.capacity() as f64);
        numbers.push(parameters.cell as f64);
        if parameters.cells > 0 {
            numbers.push(parameters.cells as f64);
        } else {
            let period = ask
                .period
                .map_or([0, 0], |period| [period.start.as_micros(), period.end.as_micros()]);
            numbers.extend(period.map(|moment| moment as f64));
        }
        let Request { reports, cost, times, want, parts } = request;
        numbers.extend([*cost, *times, *want, (*parts).max(1)].map(|count| count.min(MOST) as f64));
        for Report { term, unspent, spent } in reports {
            numbers.extend([*term, *unspent, *spent].map(|number| number.min(MOST) as f64));
        }
        numbers
    }

    /// Now, and how long keys last beyond their state.
    fn head(&self, now: Timestamp) -> Arguments {
        let mut numbers = Arguments::default();
        numbers.push(self.moment(now));
        numbers.push(self.at_least_a_replay(0).max(SPARE as u64) as f64);
        numbers
    }
}

/// What a script answers.
enum Reply<'r> {
    Done([u64; 6], &'r [u8]),
    OtherPeriod(u64),
    Foreign(u64, &'r [u8]),
}

impl Reply<'_> {
    fn read(bytes: &[u8]) -> Option<Reply<'_>> {
        let (now, rest) = bytes.split_at_checked(8)?;
        let now = whole(now)?;
        match rest.split_first()? {
            (b'p', []) => Some(Reply::OtherPeriod(now)),
            (b'f', rest) => Some(Reply::Foreign(now, rest.get(2..)?)),
            (b'a', rest) => {
                let (numbers, state) = rest.split_at_checked(40)?;
                let mut read = [now; 6];
                for (number, bytes) in read.iter_mut().skip(1).zip(numbers.chunks_exact(8)) {
                    *number = whole(bytes)?;
                }
                Some(Reply::Done(read, state))
            }
            _ => None,
        }
    }
}

fn answer(ask: &Ask<'_>, numbers: [u64; 6], raw: &[u8]) -> Result<Answer, StoreError> {
    let [now, taken, lent, term, lasts, out] = numbers;
    let state = decode(&ask.live.limit, ask.parameters, raw).ok_or(Trouble::Unexpected)?;
    let (now, lasts) = (Timestamp::from_micros(now), Micros::new(lasts));
    Ok(Answer { now, taken, lent, term, lasts, out: out > 0, state })
}

/// The key beside a window's, of what is out on lease: a name in braces is in the slot of the name itself.
fn out_of(name: &KeyName) -> KeyName {
    let mut out = Vec::with_capacity(name.as_bytes().len() + 6);
    out.push(b'{');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"}lent");
    KeyName::new(out)
}

/// When a new key is full.
fn fresh(limit: &Limit, ticks: &BucketTicks) -> [f64; 2] {
    limit.empty_at().map_or([0.0; 2], |at| {
        let [micros, part] = ticks.split(ticks.capacity);
        [at.as_micros() as f64 + micros, part]
    })
}
