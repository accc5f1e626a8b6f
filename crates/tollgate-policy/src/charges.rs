//! From facts to charges: which limits, which key, what cost.

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;
use tollgate_core::{Period, Timestamp};
use tollgate_store::StoreOutcome;

use crate::identity::{Asker, LookedUp, Resolved};
use crate::key::{Part, Spellings};
use crate::limit::CompiledLimit;
use crate::path::normalise;
use crate::route::is_preflight;
use crate::settings::{DefaultRoute, IdentityRef, Missing};
use crate::{Facts, Policy, Rejection};

/// The charges of one request, and what the store answered. Reused, it allocates for none but keys longer than all before.
#[derive(Debug, Default)]
pub struct Charges {
    /// The matched route's place in `routes`.
    pub route: Option<usize>,
    planned: SmallVec<[Planned; 4]>,
    found: SmallVec<[Resolved; 8]>,
    looked_up: LookedUp,
    spellings: Spellings,
    answer: StoreOutcome,
}

/// One charge, before the store is asked.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The limit's place.
    pub limit: usize,
    /// The place of the class that chooses its parameters.
    pub class: usize,
    /// The place of these parameters among [`Policy::definitions`].
    pub definition: usize,
    /// Units.
    pub cost: u64,
    /// The period around now, for a quota.
    pub period: Option<Period>,
    /// The request's end may change what was taken: a slot, or a charge that depends on the status.
    pub ends: bool,
    key: Part,
}

/// Who is counted, once it is known and before it is charged: what a temporary override goes by.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The limit's place.
    pub limit: usize,
    /// The place of the class that the policy chooses.
    pub class: usize,
    /// The key.
    pub key: &'a [u8],
    /// The decision's moment: an override ends.
    pub now: Timestamp,
}

impl Charges {
    /// What is charged, in the route's order, each with its key.
    pub fn iter(&self) -> impl Iterator<Item = (&Planned, &[u8])> {
        with_keys(&self.planned, &self.spellings)
    }

    /// The same without the keys.
    pub(crate) fn planned(&self) -> &[Planned] {
        &self.planned
    }

    /// What [`Charges::iter`] gives, and where the store's answer to it goes.
    pub(crate) fn asked(
        &mut self,
    ) -> (impl ExactSizeIterator<Item = (&Planned, &[u8])>, &mut StoreOutcome) {
        (with_keys(&self.planned, &self.spellings), &mut self.answer)
    }

    /// The charges, and the store's answer.
    pub(crate) fn answered(&mut self) -> (&[Planned], &mut StoreOutcome) {
        (&self.planned, &mut self.answer)
    }

    fn clear(&mut self) {
        self.route = None;
        self.planned.clear();
        self.spellings.clear();
    }
}

#[inline]
fn with_keys<'a>(
    planned: &'a [Planned],
    spellings: &'a Spellings,
) -> impl ExactSizeIterator<Item = (&'a Planned, &'a [u8])> {
    planned.iter().map(|planned| (planned, spellings.spelling(planned.key)))
}

impl Policy {
    /// Finds the charges of the request of `facts` at `now`.
    ///
    /// `class_of` is where temporary overrides plug in: it is told of each subject and answers with the place of the class
    /// to count it under, the subject's own where nothing is overridden. To raise a key is to count it under a wider
    /// class, to block it under one whose limit is 0, to shadow it under one whose rules say so; counts of different
    /// classes are apart, so an override that ends leaves nothing behind.
    ///
    /// # Errors
    /// [`Rejection`] where the request cannot be decided.
    pub fn charges(
        &self,
        facts: &Facts<'_>,
        now: Timestamp,
        class_of: impl Fn(&Subject<'_>) -> usize,
        charges: &mut Charges,
    ) -> Result<(), Rejection> {
        let path = self.find_route(facts, charges)?;
        let Some(place) = charges.route else { return Ok(()) };
        let route = &self.settings().routes[place];
        if route.limits.is_empty() || (!route.count_preflight && is_preflight(facts)) {
            return Ok(());
        }
        let cost = self.costs[place].of(facts);
        let Charges { planned, found, looked_up, spellings, .. } = charges;
        if found.len() != self.identities.len() {
            found.resize(self.identities.len(), Resolved::Unasked);
        }
        found.fill(Resolved::Unasked);
        let mut asker = Asker::new(self, facts, &path, now, found, looked_up, spellings);
        let all = route
            .limits
            .iter()
            .try_for_each(|limit| self.plan(*limit, cost, now, &class_of, &mut asker, planned));
        charges.looked_up.clear();
        all
    }

    /// Adds the charge of the limit at `limit` to `plan`, where the limit is asked.
    #[inline]
    fn plan(
        &self,
        limit: usize,
        cost: u64,
        now: Timestamp,
        class_of: &impl Fn(&Subject<'_>) -> usize,
        asker: &mut Asker<'_, '_>,
        plan: &mut SmallVec<[Planned; 4]>,
    ) -> Result<(), Rejection> {
        let compiled = &self.limits[limit];
        let key = match key(compiled, asker) {
            Ok(key) => key,
            Err(NoKey::NotAsked) => return Ok(()),
            Err(NoKey::Missing(identity)) => return Err(self.rejection(compiled, identity)),
        };
        let class = compiled.by.map_or(0, |by| {
            let value = asker.value(by);
            let class = asker.with_text(value, |text| compiled.class(text));
            class.unwrap_or(compiled.default_class)
        });
        let class = class_of(&Subject { limit, class, key: asker.spellings().spelling(key), now });
        let Some(parameters) = compiled.classes.get(class) else { return Ok(()) };
        let Some(definition) = parameters.definition else { return Ok(()) };
        let period = parameters.periods.as_ref().map(|periods| periods.around(now));
        let ends = parameters.slots || compiled.charge_when.is_some();
        plan.push(Planned { limit, class, definition, cost, period, ends, key });
        Ok(())
    }

    /// Finds the route of the request of `facts` and leaves `charges` without any charge.
    ///
    /// # Errors
    /// [`Rejection`] where the path is bad, or no route matches and the policy's default refuses.
    pub(crate) fn route(&self, facts: &Facts<'_>, charges: &mut Charges) -> Result<(), Rejection> {
        self.find_route(facts, charges).map(|_| ())
    }

    /// The same; answers with the path in normal form.
    fn find_route<'a>(
        &self,
        facts: &Facts<'a>,
        charges: &mut Charges,
    ) -> Result<Cow<'a, str>, Rejection> {
        charges.clear();
        let path = normalise(facts.path).map_err(|_| Rejection::BadPath)?;
        charges.route = self.router.find(facts, &path);
        match (charges.route, self.settings().default) {
            (None, DefaultRoute::Refuse) => Err(Rejection::NoRoute),
            _ => Ok(path),
        }
    }

    #[cold]
    fn rejection(&self, limit: &CompiledLimit, identity: IdentityRef) -> Rejection {
        let identity = match identity {
            IdentityRef::Ip => None,
            IdentityRef::Declared(place) => self.settings().identities.get(place),
        };
        Rejection::MissingIdentity {
            limit: Arc::from(limit.name.as_str()),
            identity: identity.map_or_else(|| Arc::from("ip"), |known| Arc::clone(&known.name)),
        }
    }
}

/// Why a limit has no key for a request.
enum NoKey {
    /// It is not asked.
    NotAsked,
    /// It needs this identity.
    Missing(IdentityRef),
}

/// The key of `limit`.
#[inline(always)]
fn key(limit: &CompiledLimit, asker: &mut Asker<'_, '_>) -> Result<Part, NoKey> {
    match *limit.key {
        [] => Ok(Part::default()),
        // The value's own spelling is the key.
        [only] => part(limit, only, asker),
        _ => {
            let mut parts: SmallVec<[Part; 4]> = SmallVec::new();
            for &reference in &limit.key {
                parts.push(part(limit, reference, asker)?);
            }
            Ok(asker.spellings().joined(&parts))
        }
    }
}

/// What stands for `reference` in the key of `limit`.
#[inline(always)]
fn part(
    limit: &CompiledLimit,
    reference: IdentityRef,
    asker: &mut Asker<'_, '_>,
) -> Result<Part, NoKey> {
    match asker.value(reference) {
        Resolved::Value(part) | Resolved::Address(part) => Ok(part),
        Resolved::Missing { ambiguous } => stand_in(limit, reference, ambiguous, asker),
        Resolved::Unasked => stand_in(limit, reference, false, asker),
    }
}

/// What stands for `reference` where it is missing.
fn stand_in(
    limit: &CompiledLimit,
    reference: IdentityRef,
    ambiguous: bool,
    asker: &mut Asker<'_, '_>,
) -> Result<Part, NoKey> {
    match limit.missing {
        Missing::Share => Ok(asker.spellings().missing()),
        // Adding a second value must not open the way around the limit.
        Missing::Skip if !ambiguous => Err(NoKey::NotAsked),
        Missing::Skip | Missing::Ip => Ok(address(asker)),
        // A limit that never decides rejects nothing either.
        Missing::Reject if limit.shadow => Err(NoKey::NotAsked),
        Missing::Reject => Err(NoKey::Missing(reference)),
    }
}

/// The address, or where there is none the bucket for all who lack it.
fn address(asker: &mut Asker<'_, '_>) -> Part {
    match asker.address() {
        Resolved::Address(part) => part,
        _ => asker.spellings().missing(),
    }
}

#[cfg(test)]
mod tests;
