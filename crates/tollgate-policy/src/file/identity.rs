//! `identity:`, who is asking: the meaning of its sources, and the rule of whose word counts.

use http::HeaderName;

use super::bodies::{form_field, json_pointer};
use super::collections::{ListOr, Named, Short};
use super::diagnostic::Span;
use super::names::Known;
use super::shape::At;
use super::sink::Sink;
use super::sources::{SourceForm, SourceItem};
use super::verified;
use crate::settings::{Fold, From, Identity, Source, Table};

/// An identity: one source, or a list.
pub(crate) type IdentityForm = ListOr<SourceItem, SourceItem>;

/// The fields of which a source has exactly one.
const SOURCES: [&str; 12] = [
    "header",
    "query",
    "cookie",
    "path",
    "jwt",
    "api_key",
    "basic",
    "json",
    "form",
    "client_certificate",
    "ip",
    "table",
];

/// What sources refer to.
pub(crate) struct World<'f> {
    pub(crate) tables: &'f [Table],
    pub(crate) table_names: &'f Known,
    pub(crate) identity_names: &'f Known,
    /// Whether proxies are trusted, so that headers may count.
    pub(crate) trusts_proxies: bool,
}

/// The identities.
pub(crate) fn identities(
    section: Option<&At<Vec<Named<IdentityForm>>>>,
    world: &World<'_>,
    sink: &mut Sink<'_>,
) -> Vec<Identity> {
    let declared = section.map_or(&[][..], |section| section.value.as_slice());
    let identities: Vec<Identity> =
        declared.iter().map(|named| identity(named, world, sink)).collect();
    refuse_circles(&identities, declared, sink);
    identities
}

fn identity(named: &Named<IdentityForm>, world: &World<'_>, sink: &mut Sink<'_>) -> Identity {
    if named.name == "ip" {
        let help = "leave it out, or choose another name";
        let message = "`ip` is there without being declared".to_owned();
        sink.error(named.name_span, message, help.to_owned());
    }
    let mut made = Identity {
        name: named.name.as_str().into(),
        sources: Vec::new(),
        default: None,
        fold: Fold::default(),
    };
    match named.value.as_ref().map(|form| (&form.value, form.span)) {
        None => {}
        Some((ListOr::List(items), span)) => list(items, span, &mut made, world, sink),
        Some((ListOr::Other(item), span)) => one(item, span, &mut made, world, sink),
    }
    made
}

fn list(
    items: &[At<SourceItem>],
    span: Span,
    made: &mut Identity,
    world: &World<'_>,
    sink: &mut Sink<'_>,
) {
    if items.iter().all(|item| only_default(item).is_some()) {
        sink.error(span, "an identity without a source".to_owned(), "name one".to_owned());
    }
    for item in items {
        match only_default(item) {
            Some(default) => set_default(default, made, sink),
            None => one(&item.value, item.span, made, world, sink),
        }
    }
}

/// What an item of a list says, if that is nothing but what stands in where no source has a value.
fn only_default(item: &At<SourceItem>) -> Option<&At<String>> {
    match &item.value {
        Short::Short(_) => None,
        Short::Long(form) => form.default.as_ref().filter(|_| form.says_only_default()),
    }
}

/// What stands in where no source has a value; there is one at most.
fn set_default(default: &At<String>, made: &mut Identity, sink: &mut Sink<'_>) {
    if made.default.replace(default.value.as_str().into()).is_some() {
        let help = "an identity has one default, whichever source is missing";
        sink.error(default.name, "a second `default`".to_owned(), help.to_owned());
    }
}

/// Adds what one written source says to the identity.
fn one(item: &SourceItem, span: Span, made: &mut Identity, world: &World<'_>, sink: &mut Sink<'_>) {
    let form = match item {
        Short::Short(_) => return made.sources.push(Source::Ip),
        Short::Long(form) => form,
    };
    if let Some(default) = &form.default {
        set_default(default, made, sink);
    }
    if let Some(fold) = &form.fold {
        made.fold = fold.value;
    }
    let chosen = form.written.among(&SOURCES);
    match (chosen.as_slice(), &form.sources) {
        ([_], None) if form.written.place("sources").is_none() => {
            made.sources.extend(source(form, world, sink));
        }
        ([], Some(items)) => list(&items.value, items.span, made, world, sink),
        ([], None) if form.written.place("sources").is_some() || form.written.strangers() => {}
        ([], None) => {
            let help = format!("name its source: {}", super::nearest::listed(SOURCES));
            sink.error(span, "an identity without a source".to_owned(), help);
        }
        (several, _) => {
            let at = several.last().map_or(span, |(_, at)| *at);
            let help =
                "write a list, such as `[{ header: x }, { cookie: y }]`: the first present wins";
            sink.error(at, "a source beside another".to_owned(), help.to_owned());
        }
    }
}

/// The one source of `form`. `None` where it is wrong, with an error said.
fn source(form: &SourceForm, world: &World<'_>, sink: &mut Sink<'_>) -> Option<Source> {
    if form.header.is_none()
        && form.cookie.is_none()
        && let Some(from) = &form.from
    {
        let help = "leave it out: only headers and cookies are somebody's word";
        sink.error(from.name, "`from` goes with `header` and `cookie`".to_owned(), help.to_owned());
    }
    if let Some(header) = &form.header {
        let name = header_name(header, sink)?;
        let from = whose_word("header", header, form.from.as_ref(), world.trusts_proxies, sink);
        return Some(Source::Header { name, from });
    }
    if let Some(cookie) = &form.cookie {
        let from = whose_word("cookie", cookie, form.from.as_ref(), world.trusts_proxies, sink);
        return Some(Source::Cookie { name: cookie.value.clone(), from });
    }
    if let Some(query) = &form.query {
        return Some(Source::Query { name: query.value.clone() });
    }
    if let Some(path) = &form.path {
        return path_segment(path, sink);
    }
    if let Some(jwt) = &form.jwt {
        return verified::jwt(jwt, sink);
    }
    if let Some(api_key) = &form.api_key {
        return verified::api_key(api_key, world, sink);
    }
    if let Some(table) = &form.table {
        return verified::table(table, world, sink);
    }
    if let Some(pointer) = &form.json {
        return json_pointer(pointer, sink);
    }
    if let Some(field) = &form.form {
        return form_field(field, sink);
    }
    if let Some(field) = &form.client_certificate {
        return Some(Source::ClientCertificate(field.value));
    }
    if form.ip.is_some() {
        return Some(Source::Ip);
    }
    form.basic.as_ref().map(|_| Source::BasicUser)
}

fn path_segment(
    path: &At<Short<u64, super::sources::PathSource>>,
    sink: &mut Sink<'_>,
) -> Option<Source> {
    let segment = match &path.value {
        Short::Short(segment) => *segment,
        Short::Long(form) => form.segment.as_ref()?.value,
    };
    match usize::try_from(segment) {
        Ok(segment @ 0..=255) => Some(Source::Path { segment }),
        _ => {
            let help = "segments are counted from 0, and at most 255";
            sink.error(path.span, format!("there is no segment {segment}"), help.to_owned());
            None
        }
    }
}

/// A header's name in lower case.
pub(crate) fn header_name(name: &At<String>, sink: &mut Sink<'_>) -> Option<String> {
    match HeaderName::from_bytes(name.value.as_bytes()) {
        Ok(parsed) => Some(parsed.as_str().to_owned()),
        Err(_) => {
            let help = "write letters, digits and `-`, without a colon";
            sink.error(name.span, format!("`{}` is no header name", name.value), help.to_owned());
            None
        }
    }
}

/// Whose word a header or cookie is. Where nobody is trusted and anyone is not allowed, it could never count: an error.
pub(crate) fn whose_word(
    kind: &str,
    name: &At<String>,
    from: Option<&At<From>>,
    trusts_proxies: bool,
    sink: &mut Sink<'_>,
) -> From {
    let from = from.map_or(From::TrustedProxies, |from| from.value);
    if from == From::TrustedProxies && !trusts_proxies {
        let message = format!(
            "the {kind} `{}` says what its sender wrote, and no sender is trusted",
            name.value
        );
        let help = "name your proxies in `client_address: { trusted_proxies: [..] }`, or write \
                    `from: anyone` beside it if any client may choose the value";
        sink.error(name.span, message, help.to_owned());
    }
    from
}

/// Identities that are looked up by each other's value would have none.
fn refuse_circles(made: &[Identity], declared: &[Named<IdentityForm>], sink: &mut Sink<'_>) {
    let needs = |place: usize| {
        made[place].sources.iter().filter_map(|source| match source {
            Source::Table { value_of, .. } => Some(*value_of),
            _ => None,
        })
    };
    let mut settled = vec![false; made.len()];
    loop {
        let ready: Vec<usize> = (0..made.len())
            .filter(|&at| !settled[at] && needs(at).all(|on| settled.get(on) == Some(&true)))
            .collect();
        if ready.is_empty() {
            break;
        }
        ready.into_iter().for_each(|at| settled[at] = true);
    }
    for (named, _) in declared.iter().zip(settled).filter(|(_, settled)| !settled) {
        let message = format!("the value of `{}` is looked up by itself", named.name);
        let help = "`value_of` must lead to an identity with a source of its own";
        sink.error(named.name_span, message, help.to_owned());
    }
}
