//! `client_address: { forwarding: .. }`, what an upstream is told of the client.

use super::collections::OneOrMany;
use super::shape::{At, choice, record};
use crate::{Chain, Forwarding};

record! {
    /// What an upstream is told of the client. The word of those who are not trusted is always replaced.
    ForwardingForm, "`forwarding`" {
        /// In which fields: `x-forwarded` (`X-Forwarded-For`, `-Proto`, `-Host`), `forwarded` (RFC 7239), `via`;
        /// `[x-forwarded, via]` unless said otherwise. Others are passed on from trusted proxies as they are.
        optional fields: OneOrMany<ForwardingField>,
        /// What becomes of the word of trusted proxies: `append` (default) adds the socket's peer to it, `replace` puts the
        /// client's address in its place.
        optional chain: Chain,
    }
}

/// Fields that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ForwardingField {
    XForwarded,
    Forwarded,
    Via,
}

choice! { ForwardingField, "kind of forwarding field" {
    "x-forwarded" => ForwardingField::XForwarded,
    "forwarded" => ForwardingField::Forwarded,
    "via" => ForwardingField::Via,
} }

choice! { Chain, "way with a chain of proxies" {
    "append" => Chain::Append,
    "replace" => Chain::Replace,
} }

/// The section's meaning.
pub(crate) fn forwarding(form: Option<&At<ForwardingForm>>) -> Forwarding {
    let mut said = Forwarding::default();
    let Some(form) = form.map(|form| &form.value) else { return said };
    if let Some(fields) = &form.fields {
        let lists = |field| fields.value.0.iter().any(|one| one.value == field);
        said.x_forwarded = lists(ForwardingField::XForwarded);
        said.forwarded = lists(ForwardingField::Forwarded);
        said.via = lists(ForwardingField::Via);
    }
    if let Some(chain) = &form.chain {
        said.chain = chain.value;
    }
    said
}
