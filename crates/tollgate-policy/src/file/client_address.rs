//! `client_address:`, how the client's address is found.

use std::net::IpAddr;

use ipnet::IpNet;
use schemars::{Schema, SchemaGenerator};
use serde_json::json;

use super::collections::OneOrMany;
use super::forwarding::{ForwardingForm, forwarding};
use super::node::{Node, Value};
use super::scalars::{choose, text_of};
use super::shape::{At, Shape, into_schema, record};
use super::sink::Sink;
use crate::{ClientAddress, ForwardedHeader, Hops};

record! {
    /// How the client's address is found. Without it, it is the socket's peer.
    ClientAddressForm, "`client_address`" {
        /// Networks of proxies that are believed: the client is the first address from the right in none of them. Not with `trusted_hops`.
        optional trusted_proxies: OneOrMany<Network>,
        /// The client is the n-th address from the right, whoever sends it. Not with `trusted_proxies`.
        optional trusted_hops: u64,
        /// The one header that is read.
        optional header: HopsHeader,
        /// IPv6 addresses count by this prefix, 32 to 128; 64 unless said otherwise.
        optional ipv6_prefix: u64,
        /// Whether `64:ff9b::/96` stands for the IPv4 address in its low 32 bits.
        optional nat64: bool,
        /// What an upstream is told of the client.
        optional forwarding: ForwardingForm,
    }
}

/// Which header tells of hops; case does not count in header names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HopsHeader(ForwardedHeader);

const HOPS_HEADERS: [(&str, HopsHeader); 2] = [
    ("x-forwarded-for", HopsHeader(ForwardedHeader::XForwardedFor)),
    ("forwarded", HopsHeader(ForwardedHeader::Forwarded)),
];

impl Shape for HopsHeader {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<HopsHeader> {
        let known = match &node.value {
            Value::Scalar(text) => {
                HOPS_HEADERS.iter().find(|(name, _)| name.eq_ignore_ascii_case(text))
            }
            _ => None,
        };
        match known {
            Some((_, header)) => Some(*header),
            None => choose(node, "header of hops", &HOPS_HEADERS, sink),
        }
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        into_schema(
            json!({ "enum": ["x-forwarded-for", "forwarded", "X-Forwarded-For", "Forwarded", "X-FORWARDED-FOR"] }),
        )
    }
}

/// A network in CIDR form, or a single address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Network(pub(crate) IpNet);

impl Shape for Network {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<Network> {
        let text = text_of(node, "a network", sink)?;
        let single = || text.parse::<IpAddr>().map(|address| IpNet::from(address.to_canonical()));
        let Ok(network) = text.parse::<IpNet>().or_else(|_| single()) else {
            let help = "write a network such as `10.0.0.0/8` or `2001:db8::/32`, or an address";
            sink.error(node.span, format!("`{text}` is no network"), help.to_owned());
            return None;
        };
        if network.prefix_len() == 0 {
            sink.warn(
                node.span,
                format!("`{text}` trusts everybody: any client can pretend to be any address"),
                "name the networks of your own proxies",
            );
        }
        Some(Network(network.trunc()))
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        into_schema(json!({ "type": "string", "examples": ["10.0.0.0/8", "2001:db8::/32"] }))
    }
}

/// The section's meaning.
pub(crate) fn client_address(
    section: Option<&At<ClientAddressForm>>,
    sink: &mut Sink<'_>,
) -> ClientAddress {
    let mut said = ClientAddress::default();
    let Some(form) = section.map(|section| &section.value) else { return said };
    if let Some(hops) = hops(form, sink) {
        said.hops = hops;
    }
    if let Some(header) = &form.header {
        said.header = header.value.0;
    }
    if let Some(prefix) = &form.ipv6_prefix {
        match u8::try_from(prefix.value) {
            Ok(bits @ 32..=128) => said.ipv6_prefix = bits,
            _ => {
                let message = format!("a prefix of {} bits", prefix.value);
                sink.error(prefix.span, message, "write 32 to 128; 64 is one network".to_owned());
            }
        }
    }
    said.forwarding = forwarding(form.forwarding.as_ref());
    said.nat64 = form.nat64.as_ref().is_some_and(|nat64| nat64.value);
    said
}

fn hops(form: &ClientAddressForm, sink: &mut Sink<'_>) -> Option<Hops> {
    if let (Some(_), Some(hops)) = (&form.trusted_proxies, &form.trusted_hops) {
        let help = "keep `trusted_proxies` where you know their addresses, else `trusted_hops`";
        let message = "`trusted_hops` and `trusted_proxies` go not together".to_owned();
        sink.error(hops.name, message, help.to_owned());
        return None;
    }
    if let Some(proxies) = &form.trusted_proxies {
        return Some(Hops::Trusted(proxies.value.0.iter().map(|net| net.value.0).collect()));
    }
    let hops = form.trusted_hops.as_ref()?;
    match u32::try_from(hops.value) {
        Ok(count @ 1..=100) => Some(Hops::Count(count)),
        _ => {
            let help = "write 1 for one proxy in front; leave it out for none";
            sink.error(hops.span, format!("{} trusted hops", hops.value), help.to_owned());
            None
        }
    }
}
