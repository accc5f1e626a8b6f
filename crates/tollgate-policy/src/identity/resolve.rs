//! Finding the values of a request's identities: each at most once a request.

use std::net::IpAddr;
use std::sync::Arc;

use arc_swap::Guard;
use sha2::{Digest, Sha256};
use smallvec::{SmallVec, smallvec};
use tollgate_core::Timestamp;

use super::{Credential, Identity, Single, Source, basic, cookie, escapes, single};
use crate::key::{DEFAULT_SOURCE, Part, Spellings};
use crate::lookups::{Claims, Lookups};
use crate::settings::{ApiKeyAt, From, IdentityRef};
use crate::{Facts, Policy};

/// What was found of one identity.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Resolved {
    /// Not looked for yet.
    #[default]
    Unasked,
    /// A value.
    Value(Part),
    /// An address.
    Address(Part, IpAddr),
    /// None.
    Missing {
        /// There were several that differ.
        ambiguous: bool,
    },
}

/// A row that a credential found: the same for all identities that ask.
#[derive(Clone, Copy, Debug, Default)]
enum Row {
    #[default]
    Unasked,
    Found(usize),
    Unknown,
    Ambiguous,
}

/// One request's values, found as they are asked for.
#[derive(Debug)]
pub(crate) struct Asker<'p, 'a> {
    policy: &'p Policy,
    facts: &'p Facts<'a>,
    path: &'p str,
    now: Timestamp,
    lookups: Option<Guard<Arc<Lookups>>>,
    found: SmallVec<[Resolved; 8]>,
    address: Resolved,
    rows: SmallVec<[Row; 2]>,
    claims: SmallVec<[Option<Single<Arc<Claims>>>; 1]>,
    spellings: &'p mut Spellings,
}

impl<'p, 'a> Asker<'p, 'a> {
    /// Asks `facts`, with their path in normal form.
    pub(crate) fn new(
        policy: &'p Policy,
        facts: &'p Facts<'a>,
        path: &'p str,
        now: Timestamp,
        spellings: &'p mut Spellings,
    ) -> Asker<'p, 'a> {
        Asker {
            policy,
            facts,
            path,
            now,
            lookups: None,
            found: smallvec![Resolved::Unasked; policy.identities.len()],
            address: Resolved::Unasked,
            rows: smallvec![Row::Unasked; policy.credentials.len()],
            claims: smallvec![None; policy.tokens().len()],
            spellings,
        }
    }

    /// The spelling at `part`.
    pub(crate) fn spelling(&self, part: Part) -> &[u8] {
        self.spellings.spelling(part)
    }

    /// Runs `read` on the text of what was found; an address in its canonical form.
    pub(crate) fn with_text<T>(&self, found: Resolved, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
        with_text(self.spellings, found, read)
    }

    /// The value of `identity`.
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
                    Resolved::Address(
                        self.spellings.address(address, settings.ipv6_prefix),
                        address,
                    )
                }
                None => Resolved::Missing { ambiguous: false },
            };
        }
        self.address
    }

    fn declared(&mut self, place: usize) -> Resolved {
        let policy = self.policy;
        let Some(identity) = policy.identities.get(place) else {
            return Resolved::Missing { ambiguous: false };
        };
        if matches!(self.found[place], Resolved::Unasked) {
            self.found[place] = self.search(identity);
        }
        self.found[place]
    }

    /// Asks the sources in order.
    fn search(&mut self, identity: &'p Identity) -> Resolved {
        let mut ambiguous = false;
        for (place, source) in identity.sources.iter().enumerate() {
            match self.ask(source, place as u8, identity.fold) {
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

    fn ask(&mut self, source: &'p Source, place: u8, fold: bool) -> Resolved {
        let facts = self.facts;
        let spell = |spellings: &mut Spellings, text: &[u8]| {
            spellings.value(place, text, fold).map_or(ABSENT, Resolved::Value)
        };
        match source {
            Source::Ip => self.address(),
            Source::Header { name, from } if self.believes(*from) => {
                let text = single(facts.headers.values(name));
                taken(text, |text| spell(self.spellings, text))
            }
            Source::Cookie { name, from } if self.believes(*from) => {
                let fields = facts.headers.values(&http::header::COOKIE);
                let text = single(fields.flat_map(|field| cookie::values(field, name)));
                taken(text, |text| spell(self.spellings, text))
            }
            Source::Header { .. } | Source::Cookie { .. } => ABSENT,
            Source::Query { name } => {
                let text = single(escapes::parameters(facts.query.unwrap_or(""), name));
                taken(text, |text| spell(self.spellings, &text))
            }
            Source::Path { segment } => {
                let text = self.path.split('/').filter(|text| !text.is_empty()).nth(*segment);
                let text = escapes::decode(text.unwrap_or("").as_bytes(), false);
                spell(self.spellings, &text)
            }
            Source::BasicUser => {
                let field = single(facts.headers.values(&http::header::AUTHORIZATION));
                taken(field, |field| spell(self.spellings, &basic::user(field).unwrap_or_default()))
            }
            Source::Jwt { token, claim } => match self.claims(*token) {
                Single::Several => AMBIGUOUS,
                Single::Absent => ABSENT,
                Single::One(claims) => {
                    claims.text(claim, |text| spell(self.spellings, text)).unwrap_or(ABSENT)
                }
            },
            Source::ApiKey { credential, column } => match self.row(*credential) {
                Row::Ambiguous => AMBIGUOUS,
                Row::Unknown | Row::Unasked => ABSENT,
                Row::Found(row) => {
                    let table = self.policy.credentials[*credential].table;
                    self.cell(table, row, *column, place, fold)
                }
            },
            Source::Table { table, index, value_of, column } => {
                let wanted = self.declared(*value_of);
                let policy = self.policy;
                let lookups = self.lookups.get_or_insert_with(|| policy.lookups.load());
                let find = |text: &[u8]| lookups.table(*table).find(*index, text);
                match with_text(self.spellings, wanted, find).flatten() {
                    Some(row) => self.cell(*table, row, *column, place, fold),
                    None => ABSENT,
                }
            }
        }
    }

    fn believes(&self, from: From) -> bool {
        from == From::Anyone || self.facts.trusted
    }

    /// The tables and keys of this request: one state of them for all its identities.
    fn lookups(&mut self) -> &Arc<Lookups> {
        let policy = self.policy;
        self.lookups.get_or_insert_with(|| policy.lookups.load())
    }

    fn cell(&mut self, table: usize, row: usize, column: usize, place: u8, fold: bool) -> Resolved {
        let policy = self.policy;
        let lookups = self.lookups.get_or_insert_with(|| policy.lookups.load());
        let text = lookups.table(table).cell(row, column).unwrap_or("");
        self.spellings.value(place, text.as_bytes(), fold).map_or(ABSENT, Resolved::Value)
    }

    /// The claims of the token that was presented; absent where it does not verify.
    fn claims(&mut self, token: usize) -> Single<Arc<Claims>> {
        if let Some(known) = &self.claims[token] {
            return known.clone();
        }
        let header = &self.policy.tokens()[token].header;
        let found = match single(self.facts.headers.values(header)) {
            Single::Absent => Single::Absent,
            Single::Several => Single::Several,
            Single::One(field) => {
                let text = basic::scheme(field, b"bearer").unwrap_or(field);
                let now = self.now;
                let claims = self.lookups().token(token).verify(text, now);
                claims.map_or(Single::Absent, Single::One)
            }
        };
        self.claims[token] = Some(found.clone());
        found
    }

    /// The row of the API key that `credential` finds.
    fn row(&mut self, credential: usize) -> Row {
        if matches!(self.rows[credential], Row::Unasked) {
            let credential_at = &self.policy.credentials[credential];
            self.rows[credential] = match presented(credential_at, self.facts) {
                Single::Absent => Row::Unknown,
                Single::Several => Row::Ambiguous,
                Single::One(digest) => {
                    let table = self.lookups().table(credential_at.table);
                    table.find(credential_at.index, &digest).map_or(Row::Unknown, Row::Found)
                }
            };
        }
        self.rows[credential]
    }
}

fn with_text<T>(
    spellings: &Spellings,
    found: Resolved,
    read: impl FnOnce(&[u8]) -> T,
) -> Option<T> {
    match found {
        Resolved::Value(part) => Some(read(spellings.text(part))),
        Resolved::Address(_, address) => Some(read(address.to_string().as_bytes())),
        Resolved::Unasked | Resolved::Missing { .. } => None,
    }
}

const ABSENT: Resolved = Resolved::Missing { ambiguous: false };
const AMBIGUOUS: Resolved = Resolved::Missing { ambiguous: true };

fn taken<T>(text: Single<T>, spell: impl FnOnce(T) -> Resolved) -> Resolved {
    match text {
        Single::Absent => ABSENT,
        Single::Several => AMBIGUOUS,
        Single::One(text) => spell(text),
    }
}

/// The digest of the API key that was presented.
fn presented(credential: &Credential, facts: &Facts<'_>) -> Single<[u8; 32]> {
    let digest = |key: &[u8]| <[u8; 32]>::from(Sha256::digest(key));
    match (&credential.at, &credential.header) {
        (ApiKeyAt::Query(name), _) => {
            single(escapes::parameters(facts.query.unwrap_or(""), name)).map(|key| digest(&key))
        }
        (ApiKeyAt::Header(_), None) => Single::Absent,
        (ApiKeyAt::Header(_), Some(name)) => single(facts.headers.values(name))
            .map(|field| digest(basic::scheme(field, b"bearer").unwrap_or(field))),
    }
}
