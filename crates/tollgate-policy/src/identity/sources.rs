//! What each kind of source says of a request. Those that take more than a header's look-up are kept out of line, so that
//! the common ones do not pay for the room that these need.

use std::sync::Arc;

use http::HeaderName;
use sha2::{Digest, Sha256};

use super::resolve::{ABSENT, AMBIGUOUS, Row, with_text};
use super::{
    Asker, Credential, Pointer, Resolved, Single, basic, body, cookie, escapes, json, single,
};
use crate::Facts;
use crate::lookups::{Claims, Lookups};
use crate::settings::{ApiKeyAt, CertificateField};

impl Asker<'_, '_> {
    #[inline(always)]
    pub(super) fn header(&mut self, name: &HeaderName, place: u8, fold: bool) -> Resolved {
        match self.facts.headers.single(name) {
            Single::One(text) => self.spell(text, place, fold),
            Single::Absent => ABSENT,
            Single::Several => AMBIGUOUS,
        }
    }

    #[inline(never)]
    pub(super) fn cookie(&mut self, name: &str, place: u8, fold: bool) -> Resolved {
        let fields = self.facts.headers.values(&http::header::COOKIE);
        let text = single(fields.flat_map(|field| cookie::values(field, name)));
        self.taken(text, place, fold)
    }

    #[inline(never)]
    pub(super) fn parameter(&mut self, name: &str, place: u8, fold: bool) -> Resolved {
        let text = single(escapes::parameters(self.facts.query.unwrap_or("").as_bytes(), name));
        self.taken(text, place, fold)
    }

    #[inline(never)]
    pub(super) fn segment(&mut self, segment: usize, place: u8, fold: bool) -> Resolved {
        let text = self.path.split('/').filter(|text| !text.is_empty()).nth(segment);
        let text = escapes::decode(text.unwrap_or("").as_bytes(), false);
        self.spell(&text, place, fold)
    }

    #[inline(never)]
    pub(super) fn basic_user(&mut self, place: u8, fold: bool) -> Resolved {
        let field = self.facts.headers.single(&http::header::AUTHORIZATION);
        self.taken(field.map(|field| basic::user(field).unwrap_or_default()), place, fold)
    }

    #[inline(never)]
    pub(super) fn in_json(&mut self, pointer: &Pointer, place: u8, fold: bool) -> Resolved {
        let text = match self.body() {
            body::Content::Json(document) => json::value(document, pointer),
            other => other.says_nothing(),
        };
        self.taken(text, place, fold)
    }

    #[inline(never)]
    pub(super) fn in_form(&mut self, field: &str, place: u8, fold: bool) -> Resolved {
        let text = match self.body() {
            body::Content::Form(pairs) => single(escapes::parameters(pairs, field)),
            other => other.says_nothing(),
        };
        self.taken(text, place, fold)
    }

    #[inline(never)]
    pub(super) fn certificate(
        &mut self,
        field: CertificateField,
        place: u8,
        fold: bool,
    ) -> Resolved {
        let said = self.facts.certificate.map_or(&[][..], |shown| shown.values(field));
        let text = single(said.iter().map(String::as_bytes));
        self.taken(text, place, fold)
    }

    #[inline(never)]
    pub(super) fn claim(&mut self, token: usize, claim: &str, place: u8, fold: bool) -> Resolved {
        match self.claims(token) {
            Single::Several => AMBIGUOUS,
            Single::Absent => ABSENT,
            Single::One(claims) => {
                claims.text(claim, |text| self.spell(text, place, fold)).unwrap_or(ABSENT)
            }
        }
    }

    #[inline(never)]
    pub(super) fn key_holder(
        &mut self,
        credential: usize,
        column: usize,
        place: u8,
        fold: bool,
    ) -> Resolved {
        match self.row(credential) {
            Row::Ambiguous => AMBIGUOUS,
            Row::Unknown | Row::Unasked => ABSENT,
            Row::Found(row) => {
                let table = self.policy.credentials[credential].table;
                self.cell(table, row, column, place, fold)
            }
        }
    }

    /// The cell in the row whose key is the value that `wanted` is; `at` is the table, its index and the column.
    #[inline(never)]
    pub(super) fn look_up(
        &mut self,
        wanted: Resolved,
        at: (usize, usize, usize),
        place: u8,
        fold: bool,
    ) -> Resolved {
        let (table, index, column) = at;
        let policy = self.policy;
        let lookups = self.looked_up.lookups.get_or_insert_with(|| policy.lookups.load());
        let find = |text: &[u8]| lookups.table(table).find(index, text);
        match with_text(self.spellings, self.client, wanted, find).flatten() {
            Some(row) => self.cell(table, row, column, place, fold),
            None => ABSENT,
        }
    }

    #[inline(always)]
    fn spell(&mut self, text: &[u8], place: u8, fold: bool) -> Resolved {
        self.spellings.value(place, text, fold).map_or(ABSENT, Resolved::Value)
    }

    fn taken(&mut self, text: Single<impl AsRef<[u8]>>, place: u8, fold: bool) -> Resolved {
        match text {
            Single::Absent => ABSENT,
            Single::Several => AMBIGUOUS,
            Single::One(text) => self.spell(text.as_ref(), place, fold),
        }
    }

    /// The tables and keys of this request: one state of them for all its identities.
    fn lookups(&mut self) -> &Arc<Lookups> {
        let policy = self.policy;
        self.looked_up.lookups.get_or_insert_with(|| policy.lookups.load())
    }

    fn cell(&mut self, table: usize, row: usize, column: usize, place: u8, fold: bool) -> Resolved {
        let policy = self.policy;
        let lookups = self.looked_up.lookups.get_or_insert_with(|| policy.lookups.load());
        let text = lookups.table(table).cell(row, column).unwrap_or("");
        self.spellings.value(place, text.as_bytes(), fold).map_or(ABSENT, Resolved::Value)
    }

    /// The claims of the token that was presented; absent where it does not verify.
    fn claims(&mut self, token: usize) -> Single<Arc<Claims>> {
        let tokens = self.policy.tokens();
        self.looked_up.claims.resize(tokens.len(), None);
        if let Some(known) = &self.looked_up.claims[token] {
            return known.clone();
        }
        let found = match self.facts.headers.single(&tokens[token].header) {
            Single::Absent => Single::Absent,
            Single::Several => Single::Several,
            Single::One(field) => {
                let text = basic::scheme(field, b"bearer").unwrap_or(field);
                let now = self.now;
                let claims = self.lookups().token(token).verify(text, now);
                claims.map_or(Single::Absent, Single::One)
            }
        };
        self.looked_up.claims[token] = Some(found.clone());
        found
    }

    /// The row of the API key that `credential` finds.
    fn row(&mut self, credential: usize) -> Row {
        let credentials = &self.policy.credentials;
        self.looked_up.rows.resize(credentials.len(), Row::Unasked);
        if matches!(self.looked_up.rows[credential], Row::Unasked) {
            let credential_at = &credentials[credential];
            self.looked_up.rows[credential] = match presented(credential_at, self.facts) {
                Single::Absent => Row::Unknown,
                Single::Several => Row::Ambiguous,
                Single::One(digest) => {
                    let table = self.lookups().table(credential_at.table);
                    table.find(credential_at.index, &digest).map_or(Row::Unknown, Row::Found)
                }
            };
        }
        self.looked_up.rows[credential]
    }
}

impl<'a> Asker<'_, 'a> {
    fn body(&self) -> body::Content<'a> {
        body::content(self.facts, self.policy.settings().gateway.max_identity_body)
    }
}

/// The digest of the API key that was presented.
fn presented(credential: &Credential, facts: &Facts<'_>) -> Single<[u8; 32]> {
    let digest = |key: &[u8]| <[u8; 32]>::from(Sha256::digest(key));
    match (&credential.at, &credential.header) {
        (ApiKeyAt::Query(name), _) => {
            single(escapes::parameters(facts.query.unwrap_or("").as_bytes(), name))
                .map(|key| digest(&key))
        }
        (ApiKeyAt::Header(_), None) => Single::Absent,
        (ApiKeyAt::Header(_), Some(name)) => facts
            .headers
            .single(name)
            .map(|field| digest(basic::scheme(field, b"bearer").unwrap_or(field))),
    }
}
