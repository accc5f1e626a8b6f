//! From facts to charges: which limits, which key, what cost.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;
use tollgate_core::{Period, Timestamp};

use crate::identity::{Asker, Resolved};
use crate::key::{MISSING_PART, Spellings};
use crate::limit::CompiledLimit;
use crate::path::normalise;
use crate::route::is_preflight;
use crate::settings::{DefaultRoute, IdentityRef, Missing};
use crate::{Facts, Policy, Rejection};

/// The charges of one request. Reused, it allocates for none but unusually long keys.
#[derive(Debug, Default)]
pub struct Charges {
    /// The matched route's place in `routes`.
    pub route: Option<usize>,
    planned: SmallVec<[Planned; 4]>,
    keys: SmallVec<[u8; 256]>,
    spellings: Spellings,
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
    key: Range<u32>,
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
        let key = |planned: &Planned| planned.key.start as usize..planned.key.end as usize;
        self.planned.iter().map(move |planned| (planned, &self.keys[key(planned)]))
    }

    fn clear(&mut self) {
        self.route = None;
        self.planned.clear();
        self.keys.clear();
        self.spellings.clear();
    }
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
        let Charges { planned, keys, spellings, .. } = charges;
        let mut asker = Asker::new(self, facts, &path, now, spellings);
        for &limit in &route.limits {
            let start = keys.len();
            match self.plan(limit, cost, now, &class_of, &mut asker, keys)? {
                Some(charge) => planned.push(charge),
                None => keys.truncate(start),
            }
        }
        Ok(())
    }

    /// The charge of the limit at `limit`, its key written at the end of `keys`; `None` where it is not asked.
    fn plan(
        &self,
        limit: usize,
        cost: u64,
        now: Timestamp,
        class_of: &impl Fn(&Subject<'_>) -> usize,
        asker: &mut Asker<'_, '_>,
        keys: &mut SmallVec<[u8; 256]>,
    ) -> Result<Option<Planned>, Rejection> {
        let compiled = &self.limits[limit];
        let start = keys.len();
        if !self.write_key(compiled, asker, keys)? {
            return Ok(None);
        }
        let class = compiled.by.map_or(0, |by| {
            let value = asker.value(by);
            let class = asker.with_text(value, |text| compiled.class(text));
            class.unwrap_or(compiled.default_class)
        });
        let class = class_of(&Subject { limit, class, key: &keys[start..], now });
        let Some(parameters) = compiled.classes.get(class) else { return Ok(None) };
        let Some(definition) = parameters.definition else { return Ok(None) };
        let period = parameters.periods.as_ref().map(|periods| periods.around(now));
        let ends = parameters.slots || compiled.charge_when.is_some();
        let key = start as u32..keys.len() as u32;
        Ok(Some(Planned { limit, class, definition, cost, period, ends, key }))
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

    /// Writes the key of `limit`; false where the limit is not asked.
    fn write_key(
        &self,
        limit: &CompiledLimit,
        asker: &mut Asker<'_, '_>,
        key: &mut SmallVec<[u8; 256]>,
    ) -> Result<bool, Rejection> {
        for &reference in &limit.key {
            match asker.value(reference) {
                Resolved::Value(part) | Resolved::Address(part, _) => {
                    key.extend_from_slice(asker.spelling(part));
                }
                Resolved::Unasked | Resolved::Missing { ambiguous: false } => {
                    match limit.missing {
                        Missing::Skip => return Ok(false),
                        Missing::Share => key.extend_from_slice(MISSING_PART),
                        Missing::Ip => write_address(asker, key),
                        // A limit that never decides rejects nothing either.
                        Missing::Reject if limit.shadow => return Ok(false),
                        Missing::Reject => return Err(self.rejection(limit, reference)),
                    }
                }
                // Adding a second value must not open the way around the limit.
                Resolved::Missing { ambiguous: true } => match limit.missing {
                    Missing::Share => key.extend_from_slice(MISSING_PART),
                    Missing::Skip | Missing::Ip => write_address(asker, key),
                    Missing::Reject if limit.shadow => return Ok(false),
                    Missing::Reject => return Err(self.rejection(limit, reference)),
                },
            }
        }
        Ok(true)
    }

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

/// The address, or where there is none the bucket for all who lack it.
fn write_address(asker: &mut Asker<'_, '_>, key: &mut SmallVec<[u8; 256]>) {
    match asker.address() {
        Resolved::Address(part, _) => key.extend_from_slice(asker.spelling(part)),
        _ => key.extend_from_slice(MISSING_PART),
    }
}

#[cfg(test)]
mod tests;
