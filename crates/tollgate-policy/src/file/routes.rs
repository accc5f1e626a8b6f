//! `routes:`, which limits a request meets, and what it costs.

use schemars::{Schema, SchemaGenerator};
use serde_json::json;

use super::collections::{AtLeastOne, Maybe, Named, OneOrMany, Short};
use super::gateway::UpTo;
use super::identity::{header_name, whose_word};
use super::names::Known;
use super::node::{Node, Value};
use super::paths::check_glob;
use super::shape::{At, Shape, into_schema, record};
use super::sink::Sink;
use super::upstreams::is_host;
use crate::settings::{Cost, From, GatewaySettings, HeaderMatch, Match, Route};

record! {
    /// What a request meets. The first route that matches wins.
    RouteForm, "a route" {
        /// What it matches; all that is given must hold. Nothing given matches everything. A glob alone, or a list of them, is
        /// its `path`.
        optional matches = "match": Matches,
        /// Names of limits, narrow to wide, charged all or nothing; `[]` for none.
        required limits: OneOrMany<String>,
        /// Units that a request takes (1 unless said otherwise), or the header that says so.
        optional cost: Short<u64, CostForm>,
        /// Where the gateway sends it.
        optional upstream: String,
        /// Whether a CORS preflight is charged: true unless said otherwise.
        optional count_preflight: bool,
        /// Largest request body, in bytes, or `unlimited`; that of `gateway` unless said otherwise.
        optional max_body_bytes: UpTo,
        /// Largest body of an answer, in bytes, or `unlimited`; that of `gateway` unless said otherwise.
        optional max_response_bytes: UpTo,
    }
}

record! {
    /// What a route matches.
    MatchForm, "`match`" {
        /// A glob on the normalised path, or several, of which one must match: `*` within a segment, `**` any segments. `/v1/**`
        /// matches `/v1`.
        optional path: AtLeastOne<String>,
        /// Case is ignored in `path`.
        optional ignore_case: bool,
        /// One method, or several.
        optional method: OneOrMany<String>,
        /// One host, or several, without port; `*.example.com` is any depth below it.
        optional host: OneOrMany<String>,
        /// Header fields that must be there with these values; `*` (or nothing) is any value.
        optional headers: Vec<Named<Maybe<String>>>,
        /// Names of listeners that the request may come by, one or several; any unless said otherwise.
        optional listener: AtLeastOne<String>,
    }
}

/// What a route matches, written out or as its path alone.
#[derive(Clone, Debug)]
pub(crate) enum Matches {
    Path(AtLeastOne<String>),
    Form(Box<MatchForm>),
}

impl Shape for Matches {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<Matches> {
        match &node.value {
            Value::Scalar(_) | Value::List(_) => AtLeastOne::decode(node, sink).map(Matches::Path),
            _ => MatchForm::decode(node, sink).map(Box::new).map(Matches::Form),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let (path, form) = (AtLeastOne::<String>::schema(generator), MatchForm::schema(generator));
        into_schema(json!({ "anyOf": [path, form] }))
    }
}

record! {
    /// A cost that a header says. It counts from `trusted_proxies` only, or with `from: anyone`.
    CostForm, "`cost`" {
        /// The header.
        required header: String,
        /// Where it is absent; 1 unless said otherwise.
        optional default: u64,
        /// Below it, it; 1 unless said otherwise.
        optional min: u64,
        /// Above it, or where the header is no number, it.
        required max: u64,
        /// Whose word the header is.
        optional from: From,
    }
}

/// What routes refer to.
pub(crate) struct RouteWorld<'f> {
    pub(crate) listeners: &'f Known,
    pub(crate) limits: &'f Known,
    pub(crate) upstreams: &'f Known,
    pub(crate) upstream_count: usize,
    /// There is a gateway, so that every route needs an upstream.
    pub(crate) gateway: bool,
    pub(crate) trusts_proxies: bool,
    pub(crate) count_preflight: bool,
    pub(crate) defaults: &'f GatewaySettings,
}

/// Most routes.
const MOST: usize = 10_000;

/// The routes.
pub(crate) fn routes(
    section: Option<&At<Vec<At<RouteForm>>>>,
    world: &RouteWorld<'_>,
    sink: &mut Sink<'_>,
) -> Vec<Route> {
    let Some(section) = section else { return Vec::new() };
    if section.value.len() > MOST {
        let message = format!("{} routes", section.value.len());
        sink.error(section.name, message, format!("at most {MOST} are read"));
        return Vec::new();
    }
    section.value.iter().map(|form| route(form, world, sink)).collect()
}

fn route(form: &At<RouteForm>, world: &RouteWorld<'_>, sink: &mut Sink<'_>) -> Route {
    let route = &form.value;
    Route {
        matcher: route
            .matches
            .as_ref()
            .map_or(Match::default(), |at| matcher(&at.value, world, sink)),
        limits: route.limits.as_ref().map_or(Vec::new(), |names| limits(names, world, sink)),
        cost: cost(route.cost.as_ref(), world, sink),
        upstream: upstream(form, world, sink),
        count_preflight: route
            .count_preflight
            .as_ref()
            .map_or(world.count_preflight, |count| count.value),
        max_body_bytes: size(&route.max_body_bytes, world.defaults.max_body_bytes),
        max_response_bytes: size(&route.max_response_bytes, world.defaults.max_response_bytes),
    }
}

fn size(own: &Option<At<UpTo>>, default: Option<u64>) -> Option<u64> {
    own.as_ref().map_or(default, |own| own.value.0)
}

fn limits(
    names: &At<OneOrMany<String>>,
    world: &RouteWorld<'_>,
    sink: &mut Sink<'_>,
) -> Vec<usize> {
    let mut places = Vec::new();
    for name in &names.value.0 {
        let Some(place) = world.limits.place(&name.value, name.span, sink) else { continue };
        if places.contains(&place) {
            let message = format!("this route lists `{}` twice", name.value);
            let help = "list it once; to take more units, raise `cost`";
            sink.error(name.span, message, help.to_owned());
        } else {
            places.push(place);
        }
    }
    places
}

fn upstream(form: &At<RouteForm>, world: &RouteWorld<'_>, sink: &mut Sink<'_>) -> Option<usize> {
    if let Some(name) = &form.value.upstream {
        return world.upstreams.place(&name.value, name.span, sink);
    }
    if !world.gateway || form.value.written.place("upstream").is_some() {
        return None;
    }
    if world.upstream_count == 1 {
        return Some(0);
    }
    if world.upstream_count > 1 {
        let help = "add `upstream:` with one of them";
        let message = "a route without an upstream, and there are several".to_owned();
        sink.error(form.span, message, help.to_owned());
    }
    None
}

fn cost(
    form: Option<&At<Short<u64, CostForm>>>,
    world: &RouteWorld<'_>,
    sink: &mut Sink<'_>,
) -> Cost {
    match form.map(|form| &form.value) {
        None => Cost::Fixed(1),
        Some(Short::Short(units)) => Cost::Fixed(*units),
        Some(Short::Long(form)) => cost_of_header(form, world, sink).unwrap_or(Cost::Fixed(1)),
    }
}

fn cost_of_header(form: &CostForm, world: &RouteWorld<'_>, sink: &mut Sink<'_>) -> Option<Cost> {
    let header = form.header.as_ref()?;
    let name = header_name(header, sink);
    let from = whose_word("header", header, form.from.as_ref(), world.trusts_proxies, sink);
    let max = form.max.as_ref()?.value;
    let or_one = |field: &Option<At<u64>>| field.as_ref().map_or(1, |field| field.value);
    let (default, min) = (or_one(&form.default), or_one(&form.min));
    if min > max {
        let at = form.min.as_ref().or(form.max.as_ref()).map_or(header.span, |field| field.span);
        let message = format!("`min` {min} is above `max` {max}");
        sink.error(at, message, "exchange them".to_owned());
    }
    if let (Some(from), crate::settings::From::Anyone) = (&form.from, from) {
        sink.warn(
            from.span,
            format!("any client chooses what it pays, down to {min}"),
            "let a proxy of your own set the header, or fix the cost by route",
        );
    }
    Some(Cost::Header { name: name?, default, min, max, from })
}

fn matcher(matches: &Matches, world: &RouteWorld<'_>, sink: &mut Sink<'_>) -> Match {
    let form = match matches {
        Matches::Path(globs) => return Match { paths: paths(globs, sink), ..Match::default() },
        Matches::Form(form) => form,
    };
    let list = |field: &Option<At<OneOrMany<String>>>| {
        field.as_ref().map_or(Vec::new(), |field| field.value.0.clone())
    };
    Match {
        paths: form.path.as_ref().map_or(Vec::new(), |globs| paths(&globs.value, sink)),
        ignore_case: form.ignore_case.as_ref().is_some_and(|ignore| ignore.value),
        methods: list(&form.method).iter().filter_map(|name| method(name, sink)).collect(),
        hosts: list(&form.host).iter().filter_map(|name| host(name, sink)).collect(),
        headers: form.headers.as_ref().map_or(Vec::new(), |headers| {
            headers.value.iter().filter_map(|named| header(named, sink)).collect()
        }),
        listeners: form.listener.as_ref().map_or(Vec::new(), |names| {
            let known = |name: &At<String>| world.listeners.place(&name.value, name.span, sink);
            let places: Vec<usize> = names.value.0.iter().filter_map(known).collect();
            places.into_iter().map(|place| world.listeners.name(place).into()).collect()
        }),
    }
}

fn paths(globs: &AtLeastOne<String>, sink: &mut Sink<'_>) -> Vec<String> {
    globs.0.iter().for_each(|glob| check_glob(&glob.value, glob.span, sink));
    globs.0.iter().map(|glob| glob.value.clone()).collect()
}

fn method(name: &At<String>, sink: &mut Sink<'_>) -> Option<String> {
    let upper = name.value.to_ascii_uppercase();
    if http::Method::from_bytes(upper.as_bytes()).is_ok() {
        return Some(upper);
    }
    let help = "write `GET`, `POST`, ...";
    sink.error(name.span, format!("`{}` is no method", name.value), help.to_owned());
    None
}

fn host(name: &At<String>, sink: &mut Sink<'_>) -> Option<String> {
    let lower = name.value.to_ascii_lowercase();
    let bare = lower.strip_prefix("*.").unwrap_or(&lower);
    let bracketed = bare.starts_with('[') && bare.ends_with(']');
    if bracketed || is_host(bare) {
        return Some(lower);
    }
    let help = match bare.split_once(':') {
        Some((host, _)) => format!("leave the port out: `{host}`"),
        None => "write `example.com`, or `*.example.com` for all below it".to_owned(),
    };
    sink.error(name.span, format!("`{}` is no host", name.value), help);
    None
}

fn header(named: &Named<Maybe<String>>, sink: &mut Sink<'_>) -> Option<HeaderMatch> {
    let (value, span) = (named.name.clone(), named.name_span);
    let name = header_name(&At { value, span, name: span }, sink)?;
    let value = named.value.as_ref()?.value.0.clone().filter(|value| value != "*");
    Some(HeaderMatch { name, value })
}
