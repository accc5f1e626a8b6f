//! Finding the values of a request's identities: each at most once a request.

use std::net::IpAddr;
use std::sync::Arc;

use arc_swap::Guard;
use smallvec::SmallVec;
use tollgate_core::Timestamp;

use super::{Identity, Single, Source};
use crate::key::{DEFAULT_SOURCE, Part, Spellings};
use crate::lookups::{Claims, Lookups};
use crate::settings::{From, IdentityRef};
use crate::{Facts, Policy};

/// What was found of one identity.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Resolved {
    /// Not looked for yet.
    #[default]
    Unasked,
    /// A value.
    Value(Part),
    /// The client's address.
    Address(Part),
    /// None.
    Missing {
        /// There were several that differ.
        ambiguous: bool,
    },
}

/// A row that a credential found: the same for all identities that ask.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Row {
    #[default]
    Unasked,
    Found(usize),
    Unknown,
    Ambiguous,
}

/// One request's values, found as they are asked for.
#[derive(Debug)]
pub(crate) struct Asker<'p, 'a> {
    pub(super) policy: &'p Policy,
    pub(super) facts: &'p Facts<'a>,
    pub(super) path: &'p str,
    pub(super) now: Timestamp,
    /// One for each identity of the policy.
    found: &'p mut [Resolved],
    /// The client's address as it is counted, once it was asked for.
    pub(super) client: Option<IpAddr>,
    address: Resolved,
    pub(super) looked_up: &'p mut LookedUp,
    pub(super) spellings: &'p mut Spellings,
}

/// What was looked up for a request beside it. Kept apart from the asker, because most requests look nothing up.
#[derive(Debug, Default)]
pub(crate) struct LookedUp {
    /// The tables and keys: one state of them for all the request's identities.
    pub(super) lookups: Option<Guard<Arc<Lookups>>>,
    /// One for each credential, once one was asked for.
    pub(super) rows: SmallVec<[Row; 2]>,
    /// One for each way in which tokens are verified, once one was asked for.
    pub(super) claims: SmallVec<[Option<Single<Arc<Claims>>>; 1]>,
}

impl LookedUp {
    /// Forgets it, and lets go of the tables, which may be replaced meanwhile.
    #[inline]
    pub(crate) fn clear(&mut self) {
        // Nothing is found in none.
        if self.lookups.is_some() || !self.rows.is_empty() || !self.claims.is_empty() {
            *self = LookedUp::default();
        }
    }
}

impl<'p, 'a> Asker<'p, 'a> {
    /// Asks `facts`, with their path in normal form. `found` has room for what is found of each identity; nothing was looked
    /// up yet.
    pub(crate) fn new(
        policy: &'p Policy,
        facts: &'p Facts<'a>,
        path: &'p str,
        now: Timestamp,
        found: &'p mut [Resolved],
        looked_up: &'p mut LookedUp,
        spellings: &'p mut Spellings,
    ) -> Asker<'p, 'a> {
        let (client, address) = (None, Resolved::Unasked);
        Asker { policy, facts, path, now, found, client, address, looked_up, spellings }
    }

    /// What was spelt so far.
    pub(crate) fn spellings(&mut self) -> &mut Spellings {
        self.spellings
    }

    /// Runs `read` on the text of what was found; an address in its canonical form.
    pub(crate) fn with_text<T>(&self, found: Resolved, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
        with_text(self.spellings, self.client, found, read)
    }

    /// The value of `identity`.
    #[inline]
    pub(crate) fn value(&mut self, identity: IdentityRef) -> Resolved {
        match identity {
            IdentityRef::Ip => self.address(),
            IdentityRef::Declared(place) => self.declared(place),
        }
    }

    /// The client's address as it is counted.
    pub(crate) fn address(&mut self) -> Resolved {
        if matches!(self.address, Resolved::Unasked) {
            let settings = self.policy.client_address();
            self.address = match self.facts.client {
                Some(client) => {
                    let address = settings.counted(client);
                    self.client = Some(address);
                    Resolved::Address(self.spellings.address(address, settings.ipv6_prefix))
                }
                None => Resolved::Missing { ambiguous: false },
            };
        }
        self.address
    }

    #[inline]
    fn declared(&mut self, place: usize) -> Resolved {
        match self.found.get(place) {
            None => ABSENT,
            Some(Resolved::Unasked) => {
                let found = self.search(&self.policy.identities[place]);
                self.found[place] = found;
                found
            }
            Some(found) => *found,
        }
    }

    /// Asks the sources in order.
    fn search(&mut self, identity: &'p Identity) -> Resolved {
        let mut ambiguous = false;
        for (place, source) in identity.sources.iter().enumerate() {
            let said = match source {
                // Most are headers, and need no more than this.
                Source::Header { name, from } if self.believes(*from) => {
                    self.header(name, place as u8, identity.fold)
                }
                other => self.ask(other, place as u8, identity.fold),
            };
            match said {
                Resolved::Unasked | Resolved::Missing { ambiguous: false } => {}
                Resolved::Missing { ambiguous: true } => ambiguous = true,
                value => return value,
            }
        }
        let default = identity.default.as_deref();
        default
            .and_then(|text| self.spellings.value(DEFAULT_SOURCE, text, false))
            .map_or(Resolved::Missing { ambiguous }, Resolved::Value)
    }

    #[inline(never)]
    fn ask(&mut self, source: &'p Source, place: u8, fold: bool) -> Resolved {
        match source {
            Source::Ip => self.address(),
            Source::Header { from, .. } | Source::Cookie { from, .. } if !self.believes(*from) => {
                ABSENT
            }
            Source::Header { name, .. } => self.header(name, place, fold),
            Source::Cookie { name, .. } => self.cookie(name, place, fold),
            Source::Query { name } => self.parameter(name, place, fold),
            Source::Path { segment } => self.segment(*segment, place, fold),
            Source::BasicUser => self.basic_user(place, fold),
            Source::Json { pointer, place } => self.in_json(pointer, *place, fold),
            Source::Form { field, place } => self.in_form(field, *place, fold),
            Source::Certificate(field) => self.certificate(*field, place, fold),
            Source::Jwt { token, claim } => self.claim(*token, claim, place, fold),
            Source::ApiKey { credential, column } => {
                self.key_holder(*credential, *column, place, fold)
            }
            Source::Table { table, index, value_of, column } => {
                let wanted = self.declared(*value_of);
                self.look_up(wanted, (*table, *index, *column), place, fold)
            }
        }
    }

    fn believes(&self, from: From) -> bool {
        from == From::Anyone || self.facts.trusted
    }
}

/// Runs `read` on the text of what was found; `client` is the address that was.
pub(super) fn with_text<T>(
    spellings: &Spellings,
    client: Option<IpAddr>,
    found: Resolved,
    read: impl FnOnce(&[u8]) -> T,
) -> Option<T> {
    match found {
        Resolved::Value(part) => Some(read(spellings.text(part))),
        Resolved::Address(_) => client.map(|address| read(address.to_string().as_bytes())),
        Resolved::Unasked | Resolved::Missing { .. } => None,
    }
}

pub(super) const ABSENT: Resolved = Resolved::Missing { ambiguous: false };
pub(super) const AMBIGUOUS: Resolved = Resolved::Missing { ambiguous: true };
