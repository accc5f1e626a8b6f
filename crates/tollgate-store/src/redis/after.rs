//! After a decision: settling, releasing, giving back, and looking at a key or forgetting it.

use tollgate_core::{Charged, Micros, Period, Standing, Timestamp};

use super::RedisStore;
use super::ask::{HANDOVERS, Manner, Told, by_force, bytes};
use super::lent;
use super::plan::{Amount, Ask, check_period};
use super::scripts::{Kind, give_back};
use super::servers::Deadline;
use super::wire::{Answer, Arguments, MOST, Split};
use crate::{Charge, LimitId, StoreError, Taken, Trouble};

impl RedisStore {
    /// [`Store::settle`](crate::Store::settle), by `deadline`.
    pub(crate) async fn settle_by(
        &self,
        taken: Taken,
        units: u64,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<(), StoreError> {
        let registry = self.0.registry.load_full();
        let counter = registry.get(taken.limit)?;
        let ask = self.ask_of(counter, taken.key, Amount::Units(0), taken.period, deadline).await?;
        let charged = &taken.charged;
        let change = units.cmp(&charged.units);
        if change.is_lt() || (change.is_eq() && charged.fraction > 0) {
            return self.give_back(&ask, charged, units, now, deadline).await;
        }
        let more = units - charged.units;
        if more > 0 { self.charge_more(ask, charged, more, now, deadline).await } else { Ok(()) }
    }

    /// Frees the slot that was taken.
    pub(crate) async fn release_by(
        &self,
        taken: Taken,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<(), StoreError> {
        let registry = self.0.registry.load_full();
        let counter = registry.get(taken.limit)?;
        let ask = self.ask_of(counter, taken.key, Amount::Units(0), taken.period, deadline).await?;
        if ask.parameters.part.kind != Kind::Concurrency {
            return Ok(());
        }
        // The whole slot, also where it was widened since.
        let (all, moment) = (MOST as f64, self.moment(now));
        self.change_slots(&ask, &taken.charged, all, moment, deadline).await
    }

    /// Charges beside any decision, as far as the deepest debt allows.
    async fn charge_more(
        &self,
        ask: Ask<'_>,
        charged: &Charged,
        more: u64,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<(), StoreError> {
        if ask.parameters.part.kind == Kind::Concurrency {
            let wider = -(more.min(MOST) as f64);
            return self.change_slots(&ask, charged, wider, self.moment(now), deadline).await;
        }
        let period = ask.counter.period.at(now).or(ask.period);
        let ask = Ask { period, ..ask };
        match self.take_by_force(&ask, charged, more, now, deadline).await {
            // Charged in the next period, whose end is not known; it makes no difference to what is taken.
            Err(StoreError::OtherPeriod(moment)) => {
                let period = ask.period.map(|period| beside(period, moment));
                let ask = Ask { period, ..ask };
                self.take_by_force(&ask, charged, more, moment, deadline).await.map(drop)
            }
            told => told.map(drop),
        }
    }

    /// Takes `more` units whatever is left, and tells what was there before. Not from slots.
    pub(super) async fn take_by_force(
        &self,
        ask: &Ask<'_>,
        charged: &Charged,
        more: u64,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<Told, StoreError> {
        let amount = match &ask.parameters.ticks {
            // A cost beyond the deepest debt takes all that is left.
            Some(ticks) if u128::from(more) <= ticks.ceiling / u128::from(ticks.unit) => {
                let cost = u128::from(more) * u128::from(ticks.unit);
                Amount::Ticks(cost.saturating_sub(charged.fraction.into()))
            }
            Some(ticks) => Amount::Ticks(ticks.ceiling),
            None => Amount::Units(more),
        };
        let ask = by_force(Ask { amount, name: ask.name.clone(), ..*ask });
        let (looks, open, hold, delay) = (false, true, None, Micros::ZERO);
        let ticket = charged.ticket;
        let manner = Manner { deadline, looks, open, hold, delay, ticket, now };
        self.ask(&[&ask], &manner).await
    }

    /// Gives back what was charged beyond `keep` units.
    async fn give_back(
        &self,
        ask: &Ask<'_>,
        charged: &Charged,
        keep: u64,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<(), StoreError> {
        let back = charged.units.saturating_sub(keep).min(MOST) as f64;
        let at = charged.at.as_micros() as f64;
        let mut numbers = Arguments::default();
        match ask.parameters.part.kind {
            Kind::Closed => return Ok(()),
            Kind::Bucket => return self.fill(ask, charged, keep, now, deadline).await,
            Kind::Concurrency => return self.change_slots(ask, charged, back, 0.0, deadline).await,
            Kind::SlidingLog => numbers.push(back),
            Kind::FixedWindow | Kind::Quota => numbers.extend([back, at]),
            Kind::SlidingWindow | Kind::SlidingCells => {
                numbers.extend([back, at, ask.parameters.cell as f64]);
            }
        }
        let Some(script) = give_back(ask.parameters.part.kind) else { return Ok(()) };
        let ticket = charged.ticket.to_le_bytes();
        let keys = [ask.name.clone()];
        let arguments = [numbers.as_bytes(), &ticket];
        self.0.servers.call(deadline, ask.slot, script, &keys, &arguments).await?;
        Ok(())
    }

    /// Gives back to a bucket.
    async fn fill(
        &self,
        ask: &Ask<'_>,
        charged: &Charged,
        keep: u64,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<(), StoreError> {
        let parameters = ask.parameters;
        let (Some(ticks), Some(script)) = (&parameters.ticks, give_back(Kind::Bucket)) else {
            return Ok(());
        };
        let most = ticks.ceiling / u128::from(ticks.unit);
        let units = u128::from(charged.units.saturating_sub(keep)).min(most);
        let back = units * u128::from(ticks.unit) + u128::from(charged.fraction);
        let mut numbers = Arguments::default();
        numbers.extend([self.moment(now), f64::from(parameters.tag), ticks.per_micro as f64]);
        numbers.extend(ticks.split(ticks.ceiling));
        // More than the deepest debt is never missing.
        numbers.extend(ticks.split(back.min(ticks.ceiling)));
        numbers.push(charged.at.as_micros() as f64);
        for _ in 0..HANDOVERS {
            let keys = [ask.name.clone()];
            let arguments = [numbers.as_bytes()];
            let call = self.0.servers.call(deadline, ask.slot, script, &keys, &arguments);
            let reply = bytes(call.await?)?;
            let Some((moment, raw)) = Answer::foreign(&reply) else { return Ok(()) };
            if lent::is_leased(raw) && lent::parameters_of(raw) == Some(parameters.tag) {
                return self.fill_leased(ask, back, charged, now, deadline).await;
            }
            self.carry(ask, raw, moment, deadline).await?;
        }
        Ok(())
    }

    async fn change_slots(
        &self,
        ask: &Ask<'_>,
        charged: &Charged,
        back: f64,
        moment: f64,
        deadline: Deadline,
    ) -> Result<(), StoreError> {
        let Some(script) = give_back(Kind::Concurrency) else { return Ok(()) };
        let (most, ttl) = (ask.parameters.most as f64, ask.parameters.cell as f64);
        let mut numbers = Arguments::default();
        numbers.extend([back, most, charged.at.as_micros() as f64, ttl, moment]);
        let ticket = charged.ticket.to_le_bytes();
        let keys = [ask.name.clone()];
        let arguments = [numbers.as_bytes(), &ticket];
        self.0.servers.call(deadline, ask.slot, script, &keys, &arguments).await?;
        Ok(())
    }

    /// [`Store::peek`](crate::Store::peek): asks for nothing.
    pub(crate) async fn peek_by(
        &self,
        charge: &Charge<'_>,
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<Standing, StoreError> {
        let registry = self.0.registry.load_full();
        let counter = registry.get(charge.limit)?;
        check_period(counter, charge.period)?;
        let key = counter.digest(charge.key);
        let ask = self.ask_of(counter, key, Amount::Units(0), charge.period, deadline).await?;
        let (looks, open, hold, delay, ticket) = (true, false, None, Micros::ZERO, 0);
        let manner = Manner { deadline, looks, open, hold, delay, ticket, now };
        let told = self.ask(&[&ask], &manner).await?;
        let state = told.states.first().ok_or(Trouble::Unexpected)?;
        Ok(ask.live.limit.standing(state, charge.period, told.now))
    }

    /// [`Store::reset`](crate::Store::reset). `now` counts in a replay.
    pub(crate) async fn reset_by(
        &self,
        limit: LimitId,
        key: &[u8],
        now: Timestamp,
        deadline: Deadline,
    ) -> Result<(), StoreError> {
        let registry = self.0.registry.load_full();
        let counter = registry.get(limit)?;
        let key = counter.digest(key);
        let ask = self.ask_of(counter, key, Amount::Units(0), None, deadline).await?;
        if !self.forget_leased(&ask, now, deadline).await? {
            let delete = redis::cmd("DEL").arg(ask.name.as_bytes()).to_owned();
            self.0.servers.command(deadline, ask.slot, &delete).await?;
        }
        Ok(())
    }

    /// Now as a script takes it: below zero it reads the server's clock.
    pub(super) fn moment(&self, now: Timestamp) -> f64 {
        if self.0.virtual_time { now.as_micros() as f64 } else { -1.0 }
    }
}

/// The period around `now`, which is beside `period`; as far as it is known.
fn beside(period: Period, now: Timestamp) -> Period {
    if now >= period.end {
        Period { start: period.end, end: Timestamp::MAX }
    } else {
        Period { start: Timestamp::EPOCH, end: period.start }
    }
}
