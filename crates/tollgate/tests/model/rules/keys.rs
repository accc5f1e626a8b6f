//! Who is counted, by which class, and at what cost.

use std::net::{IpAddr, Ipv6Addr};

use crate::model::policy::{Class, Cost, DEFAULT_PLAN, Identity, Limit, Missing, Route};
use crate::model::trace::Request;

/// One part of a key. Every source is its own namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    User(String),
    Tenant(String),
    Plan(String),
    /// Who says no plan has the default's, and is not who says the same.
    DefaultPlan,
    Address(IpAddr),
    /// Everybody who has neither the identity nor an address.
    Shared,
}

/// A limit's class, by its place, and the key for a request; `None` where the limit is not asked.
pub(crate) fn class_and_key(limit: &Limit, request: &Request) -> Option<(usize, Vec<Part>)> {
    let class = class(limit, request);
    limit.classes[class].algorithm.as_ref()?;
    let key = limit
        .key
        .iter()
        .map(|identity| part(*identity, limit.missing, request))
        .collect::<Option<Vec<_>>>()?;
    Some((class, key))
}

fn class(limit: &Limit, request: &Request) -> usize {
    if !limit.by_plan {
        return 0;
    }
    let place =
        |plan: &str| limit.classes.iter().position(|Class { name, .. }| *name == Some(plan));
    place(&plan(request)).or_else(|| place(DEFAULT_PLAN)).expect("the default is a class")
}

fn part(identity: Identity, missing: Missing, request: &Request) -> Option<Part> {
    let present = match identity {
        Identity::User => value(request, "x-user").map(Part::User),
        Identity::Tenant => value(request, "x-tenant").map(Part::Tenant),
        Identity::Plan => Some(value(request, "x-plan").map_or(Part::DefaultPlan, Part::Plan)),
        Identity::Ip => address(request),
    };
    match (present, missing) {
        (Some(part), _) => Some(part),
        (None, Missing::Skip) => None,
        (None, Missing::Share) => Some(Part::Shared),
        (None, Missing::Default | Missing::Ip) => Some(address(request).unwrap_or(Part::Shared)),
    }
}

/// IPv4-mapped addresses are IPv4, and IPv6 is cut to 64 bits.
fn address(request: &Request) -> Option<Part> {
    let address: IpAddr = request.ip.as_ref()?.parse().expect("the generator writes addresses");
    Some(Part::Address(match address.to_canonical() {
        IpAddr::V6(long) => Ipv6Addr::from_bits(long.to_bits() >> 64 << 64).into(),
        short => short,
    }))
}

fn plan(request: &Request) -> String {
    value(request, "x-plan").unwrap_or_else(|| DEFAULT_PLAN.to_owned())
}

/// An empty value is a missing one.
fn value(request: &Request, header: &str) -> Option<String> {
    request.header(header).filter(|value| !value.is_empty()).map(str::to_owned)
}

/// What a request costs.
pub(crate) fn cost(route: &Route, request: &Request) -> u64 {
    if let Some(cost) = request.cost {
        return cost;
    }
    match route.cost {
        Cost::Default => 1,
        Cost::Fixed(units) => units,
        Cost::Header { default, min, max } => match request.header("x-cost").map(str::parse::<u64>)
        {
            None => default,
            Some(Err(_)) => max,
            Some(Ok(units)) if units > max => max,
            Some(Ok(units)) => units.max(min.unwrap_or(1)),
        },
    }
}
