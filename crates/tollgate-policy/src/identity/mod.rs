//! Who is asking: named identities, and how their values are found in a request.

mod basic;
mod body;
mod compile;
mod cookie;
mod escapes;
mod fold;
mod json;
mod pointer;
mod resolve;
mod single;
mod sources;

use http::HeaderName;

use crate::settings::{CertificateField, From};

pub(crate) use body::may_speak as body_may_speak;
pub(crate) use compile::{compile, describe, header as compile_header, spelt};
pub(crate) use fold::fold;
pub(crate) use pointer::{BadPointer, Pointer};
pub(crate) use resolve::{Asker, LookedUp, Resolved};
pub(crate) use single::{Single, single};

impl Identity {
    /// Whether it is looked for in the request's body.
    pub(crate) fn reads_body(&self) -> bool {
        self.sources
            .iter()
            .any(|source| matches!(source, Source::Json { .. } | Source::Form { .. }))
    }

    /// The identities whose values it looks up.
    pub(crate) fn looked_up(&self) -> impl Iterator<Item = usize> {
        self.sources.iter().filter_map(|source| match source {
            Source::Table { value_of, .. } => Some(*value_of),
            _ => None,
        })
    }
}

/// A compiled identity.
#[derive(Debug)]
pub(crate) struct Identity {
    /// In order; the first that is present wins.
    sources: Vec<Source>,
    /// Where none is.
    default: Option<Box<[u8]>>,
    /// Whether spellings are folded.
    pub(crate) fold: bool,
}

/// Where a value comes from, with names looked up. What a body says is one name however it is written, so `json` and `form`
/// count under the place of the first of them.
#[derive(Debug)]
enum Source {
    Header { name: HeaderName, from: From },
    Query { name: String },
    Cookie { name: String, from: From },
    Path { segment: usize },
    Jwt { token: usize, claim: String },
    ApiKey { credential: usize, column: usize },
    BasicUser,
    Json { pointer: Pointer, place: u8 },
    Form { field: String, place: u8 },
    Certificate(CertificateField),
    Ip,
    Table { table: usize, index: usize, value_of: usize, column: usize },
}

/// Where an API key is presented and where its hash is looked up: read once a request, however many columns are asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Credential {
    /// Where the key is.
    pub(crate) at: crate::settings::ApiKeyAt,
    /// The header's name, where it is in one.
    pub(crate) header: Option<HeaderName>,
    /// The table.
    pub(crate) table: usize,
    /// The table's index by hash.
    pub(crate) index: usize,
}

#[cfg(test)]
mod tests;
