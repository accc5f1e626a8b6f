//! Tests of the address reader.
//!
//! Of the field cases, `addr_11` and `addr_13` (PROXY protocol) do not apply: no listener speaks it yet. Where a case says
//! how often a client may call, that is in `tests/whole_path.rs`.

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::prelude::*;
use tollgate_policy::{ClientAddress, ForwardedHeader, Headers, Hops};

use super::{Client, forwarded_hop, forwarded_split_last, resolve, x_forwarded_for_hop};

const PEER: &str = "10.0.0.5";

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn trusting(nets: &[&str], header: ForwardedHeader) -> ClientAddress {
    let nets = nets.iter().map(|net| net.parse().unwrap()).collect();
    ClientAddress { hops: Hops::Trusted(nets), header, ..ClientAddress::default() }
}

fn counting(hops: u32) -> ClientAddress {
    ClientAddress { hops: Hops::Count(hops), ..ClientAddress::default() }
}

fn x_forwarded_for() -> ClientAddress {
    trusting(&["10.0.0.0/8"], ForwardedHeader::XForwardedFor)
}

fn forwarded() -> ClientAddress {
    trusting(&["10.0.0.0/8"], ForwardedHeader::Forwarded)
}

/// The address, read from a live request's fields; and the same from a recorded one's.
fn resolved(settings: &ClientAddress, peer: &str, fields: &[(&str, &str)]) -> Client {
    let mut map = HeaderMap::new();
    for (name, value) in fields {
        map.append(
            name.parse::<HeaderName>().unwrap(),
            HeaderValue::from_bytes(value.as_bytes()).unwrap(),
        );
    }
    let live = resolve(settings, Some(ip(peer)), Headers::Map(&map));
    let recorded = resolve(settings, Some(ip(peer)), Headers::Pairs(fields));
    assert_eq!(live, recorded, "{fields:?}");
    live
}

fn address(settings: &ClientAddress, fields: &[(&str, &str)]) -> IpAddr {
    resolved(settings, PEER, fields).address.unwrap()
}

fn last_hop(text: &str) -> IpAddr {
    address(&x_forwarded_for(), &[("x-forwarded-for", text)])
}

fn last_element(text: &str) -> IpAddr {
    address(&forwarded(), &[("forwarded", text)])
}

#[test]
fn addr_01_without_trusted_proxies_the_header_is_the_clients_own_text() {
    let nobody = trusting(&[], ForwardedHeader::XForwardedFor);
    for spoofed in ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"] {
        let client = resolved(&nobody, "203.0.113.50", &[("x-forwarded-for", spoofed)]);
        assert_eq!(client, Client { address: Some(ip("203.0.113.50")), trusted: false });
    }
}

#[test]
fn addr_03_the_first_untrusted_from_the_right_is_the_client() {
    let chain = [("x-forwarded-for", "192.0.2.1, 198.51.100.2, 203.0.113.3, 203.0.113.4")];
    let header = ForwardedHeader::XForwardedFor;
    let wide = trusting(&["10.0.0.0/8", "203.0.113.0/24"], header);
    assert_eq!(resolved(&wide, "10.0.0.1", &chain).address, Some(ip("198.51.100.2")));
    let narrow = trusting(&["10.0.0.0/8", "203.0.113.4/32"], header);
    assert_eq!(resolved(&narrow, "10.0.0.1", &chain).address, Some(ip("203.0.113.3")));
}

#[test]
fn addr_05_headers_that_are_not_named_have_no_influence() {
    let fields = [
        ("forwarded", "for=198.51.100.1"),
        ("x-forwarded-for", "203.0.113.9"),
        ("x-real-ip", "198.51.100.2"),
    ];
    assert_eq!(address(&x_forwarded_for(), &fields), ip("203.0.113.9"));
    let mut turned = fields;
    turned.reverse();
    assert_eq!(address(&x_forwarded_for(), &turned), ip("203.0.113.9"));
    assert_eq!(address(&forwarded(), &fields), ip("198.51.100.1"));
    assert_eq!(address(&x_forwarded_for(), &[("x-real-ip", "198.51.100.2")]), ip(PEER));
}

#[test]
fn addr_07_address_and_port_forms() {
    for text in ["[2001:db8:1::5]:443", "2001:db8:1::5", "[2001:db8:1::5]"] {
        assert_eq!(last_hop(text), ip("2001:db8:1::5"), "{text}");
    }
    assert_eq!(last_hop("2001:db8::1:443"), ip("2001:db8:0:0:0:0:1:443"));
    assert_eq!(last_hop("203.0.113.9:5678"), ip("203.0.113.9"));
}

#[test]
fn addr_08_forwarded_nodes_and_their_ports() {
    assert_eq!(last_element("for=\"[2001:db8:cafe::17]:4711\""), ip("2001:db8:cafe::17"));
    assert_eq!(last_element("for=\"192.0.2.1:_p\""), ip("192.0.2.1"));
    assert_eq!(last_element("FOR=192.0.2.60;proto=http;by=203.0.113.43"), ip("192.0.2.60"));
    for malformed in ["for=192.0.2.1:80", "for=\"192.0.2.1:+80\""] {
        assert_eq!(last_element(malformed), ip(PEER), "{malformed}");
        let behind = format!("for=198.51.100.7, {malformed}");
        assert_eq!(last_element(&behind), ip(PEER), "nothing left of {malformed} is read");
    }
}

#[test]
fn addr_10_obfuscated_identifiers_are_no_keys() {
    for hidden in
        ["for=_a1", "for=_b2", "for=_c3", "for=\"_d4:_port\"", "for=unknown", "for=\"unknown:80\""]
    {
        assert_eq!(last_element(hidden), ip(PEER), "{hidden}");
    }
}

#[test]
fn addr_15_an_entry_that_is_no_address_ends_the_walk() {
    assert_eq!(last_hop("not-an-ip, 192.0.2.66, 203.0.113.9"), ip("203.0.113.9"));
    assert_eq!(last_hop("192.0.2.66, not-an-ip"), ip(PEER));
    assert_eq!(
        last_hop("192.0.2.66, not-an-ip, 10.0.0.7"),
        ip("10.0.0.7"),
        "the last verified hop"
    );
}

#[test]
fn v6_02_mapped_addresses_are_ipv4_by_their_bits() {
    assert_eq!(last_hop("::ffff:198.51.100.23"), ip("198.51.100.23"));
    assert_eq!(last_hop("::ffff:c633:6417"), ip("198.51.100.23"));
    assert_eq!(last_hop("[::FFFF:c633:6417]:80"), ip("198.51.100.23"));
    let (dotted, hex) = ("2001:db8:77:88ff::198.51.100.23", "2001:db8:77:88ff::c633:6417");
    assert_eq!(last_hop(dotted), last_hop(hex));
    assert!(last_hop(dotted).is_ipv6());
    let mapped_peer =
        resolved(&x_forwarded_for(), "::ffff:10.0.0.5", &[("x-forwarded-for", "::ffff:10.1.1.1")]);
    assert_eq!(mapped_peer, Client { address: Some(ip("10.1.1.1")), trusted: true });
}

#[test]
fn v6_05_a_nat64_address_keeps_the_bits_that_tell_clients_apart() {
    // Whether it then counts as the IPv4 address is the policy's `nat64`, where the key is cut.
    assert_ne!(last_hop("64:ff9b::c000:201"), last_hop("64:ff9b::c000:202"));
}

#[test]
fn v6_07_spellings_of_one_address_are_one_address() {
    for text in ["2001:DB8::1", "2001:db8:0:0:0:0:0:1", "2001:0db8::0001"] {
        assert_eq!(last_hop(text), ip("2001:db8::1"), "{text}");
    }
}

#[test]
fn v6_08_a_zone_id_is_no_part_of_an_address() {
    assert_eq!(last_hop("fe80::1%eth0.100"), ip(PEER));
    assert_eq!(last_hop("[fe80::1%25eth0]:80"), ip(PEER));
    assert_eq!(last_element("for=\"[fe80::1%1]\""), ip(PEER));
}

#[test]
fn all_trusted_gives_the_leftmost() {
    assert_eq!(last_hop("10.0.0.3, 10.0.0.2"), ip("10.0.0.3"));
    assert_eq!(last_hop(""), ip(PEER));
}

#[test]
fn field_lines_are_joined_in_order() {
    let lines = [
        ("x-forwarded-for", "192.0.2.1, 203.0.113.9"),
        ("x-forwarded-for", "10.0.0.2 ,\t10.0.0.3"),
    ];
    assert_eq!(address(&x_forwarded_for(), &lines), ip("203.0.113.9"));
    let lines = [("forwarded", "for=192.0.2.1, for=203.0.113.9"), ("forwarded", "for=10.0.0.2")];
    assert_eq!(address(&forwarded(), &lines), ip("203.0.113.9"));
}

#[test]
fn empty_members_are_no_entries() {
    for text in ["203.0.113.9,", ", ,203.0.113.9 , \t,", "203.0.113.9,,,"] {
        assert_eq!(last_hop(text), ip("203.0.113.9"), "{text:?}");
    }
    let lines =
        [("x-forwarded-for", "203.0.113.9"), ("x-forwarded-for", " , "), ("x-forwarded-for", "")];
    assert_eq!(address(&x_forwarded_for(), &lines), ip("203.0.113.9"));
    assert_eq!(last_element(", for=203.0.113.9 ,,"), ip("203.0.113.9"));
}

#[test]
fn hops_are_counted_from_the_right() {
    let chain = [("x-forwarded-for", "192.0.2.1, 198.51.100.2, 203.0.113.3")];
    let nth = |count| resolved(&counting(count), "203.0.113.50", &chain).address.unwrap();
    assert_eq!(nth(1), ip("203.0.113.3"));
    assert_eq!(nth(2), ip("198.51.100.2"));
    assert_eq!(nth(3), ip("192.0.2.1"));
    assert_eq!(nth(4), ip("203.0.113.50"), "too few entries: the socket's peer");
    assert_eq!(nth(u32::MAX), ip("203.0.113.50"));
    assert!(!resolved(&counting(1), PEER, &chain).trusted, "a count vouches for no peer");
}

#[test]
fn a_counted_entry_that_is_no_address_is_passed_over_by_none() {
    let fields = [("x-forwarded-for", "192.0.2.1, unknown, 203.0.113.3")];
    assert_eq!(address(&counting(2), &fields), ip("203.0.113.3"));
    assert_eq!(address(&counting(3), &fields), ip("203.0.113.3"));
    assert_eq!(address(&counting(1), &[("x-forwarded-for", "junk")]), ip(PEER));
}

#[test]
fn without_a_peer_only_a_count_finds_somebody() {
    let fields = [("x-forwarded-for", "203.0.113.9")];
    let found = |settings| resolve(&settings, None, Headers::Pairs(&fields)).address;
    assert_eq!(found(x_forwarded_for()), None);
    assert_eq!(found(counting(1)), Some(ip("203.0.113.9")));
}

#[test]
fn a_chain_beyond_all_reason_costs_no_more() {
    let header = vec!["10.0.0.9"; 5_000].join(",");
    let long = format!("203.0.113.9,{header}");
    assert_eq!(last_hop(&long), ip("10.0.0.9"), "the walk ends at the last verified hop");
    assert_eq!(last_hop(&"9".repeat(100_000)), ip(PEER));
    assert_eq!(last_element(&format!("for=\"{}\"", "\\9".repeat(50_000))), ip(PEER));
}

#[test]
fn entries_of_x_forwarded_for_that_are_none() {
    let junk = [
        "",
        "unknown",
        "_hidden",
        "1.2.3",
        "1.2.3.4.5",
        "1.2.3.256",
        "01.2.3.4",
        "0x1.2.3.4",
        "1.2.3.4:",
        "1.2.3.4:+80",
        "1.2.3.4:123456",
        "1.2.3.4:8a",
        "[1.2.3.4]",
        "[1.2.3.4]:80",
        "[::1",
        "::1]",
        "[::1]80",
        "[::1]:",
        "[::1]:_p",
        "[[::1]]",
        "1:2:3:4:5:6:7:8:9",
        "::g",
        ":::",
        "2001:db8::1::2",
        "1.2.3.4 5.6.7.8",
        "\"1.2.3.4\"",
        "1.2.3.4%eth0",
        "localhost",
        "http://1.2.3.4",
        "1.2.3.4/32",
        "\u{661}.2.3.4",
        "1.2.3.4\u{a0}",
    ];
    for text in junk {
        assert_eq!(x_forwarded_for_hop(text.as_bytes()), None, "{text:?}");
    }
    assert_eq!(x_forwarded_for_hop(b"\xff\xfe"), None);
}

#[test]
fn elements_of_forwarded_that_tell_no_address() {
    let junk = [
        "",
        ";",
        ";;",
        "for",
        "for=",
        "=1.2.3.4",
        "for =1.2.3.4",
        "for= 1.2.3.4",
        "for=1.2.3.4 ;proto=http",
        "for=1.2.3.4; proto=http",
        "proto=http",
        "by=1.2.3.4",
        "for=1.2.3.4;for=1.2.3.4",
        "for=1.2.3.4;FOR=5.6.7.8",
        "for=1.2.3.4;proto=a;Proto=b",
        "for=[::1]",
        "for=\"::1\"",
        "for=\"[::1\"",
        "for=\"[::1]:\"",
        "for=\"[::1]:x\"",
        "for=\"1.2.3.4\"x",
        "for=\"1.2.3.4",
        "for=1.2.3.4\"",
        "for=\"\"",
        "for=\"1.2.3.4:_\"",
        "for=\"1.2.3.4:_a b\"",
        "for=\"1.2.3.4:123456\"",
        "for=\" 1.2.3.4\"",
        "fo r=1.2.3.4",
        "f\u{f6}r=1.2.3.4",
        "for=1.2.3.4;x=\"\u{7f}\"",
        "for=1.2.3.4;a=1;b=1;c=1;d=1;e=1;f=1;g=1;h=1;i=1;j=1;k=1;l=1;m=1;n=1;o=1;p=1",
        "for=1.2.3.4;x=\"a\\",
    ];
    for text in junk {
        assert_eq!(forwarded_hop(text.as_bytes()), None, "{text:?}");
    }
}

#[test]
fn elements_of_forwarded_that_tell_one() {
    let told = [
        ("for=192.0.2.43", "192.0.2.43"),
        ("for=\"192.0.2.43\"", "192.0.2.43"),
        ("for=\"192.0.2.43:47011\"", "192.0.2.43"),
        ("for=\"\\1\\92.0.2.43\"", "192.0.2.43"),
        ("for=\"[2001:DB8::1]:_a.b-c_\"", "2001:db8::1"),
        ("for=\"[::ffff:192.0.2.43]\"", "192.0.2.43"),
        (";for=192.0.2.43;;", "192.0.2.43"),
        ("secret=\"a, b; for=1.1.1.1\\\"\";For=192.0.2.43;host=\"\"", "192.0.2.43"),
    ];
    for (text, expected) in told {
        assert_eq!(forwarded_hop(text.as_bytes()), Some(ip(expected)), "{text:?}");
    }
}

#[test]
fn quotes_of_forwarded_hide_commas_from_both_sides() {
    assert_eq!(last_element("for=203.0.113.9;x=\"a, for=192.0.2.1\""), ip("203.0.113.9"));
    assert_eq!(
        last_element("for=\"192.0.2.1, for=203.0.113.9\""),
        ip(PEER),
        "one element, no address"
    );
    assert_eq!(last_element("for=192.0.2.1, for=\"203.0.113.9"), ip(PEER), "never closed");
    assert_eq!(last_element("for=192.0.2.1, for=203.0.113.9\\\""), ip(PEER));
    assert_eq!(last_element("for=203.0.113.9;x=\"\\\\\\\"\""), ip("203.0.113.9"));
}

#[test]
fn what_a_client_leaves_open_does_not_swallow_what_proxies_append() {
    for spoofed in
        ["for=\"192.0.2.1", "for=\"192.0.2.1\\", "\"", "\\\"", "for=192.0.2.1\"", "\"\"\""]
    {
        let appended = format!("{spoofed}, for=203.0.113.9;by=\"_x,y\", for=\"10.0.0.2:80\"");
        assert_eq!(last_element(&appended), ip("203.0.113.9"), "{spoofed:?}");
    }
}

/// A well-formed element: a token or a quoted string after `for=`, with a comment that may hold anything.
fn element() -> impl Strategy<Value = String> {
    let node = prop_oneof![
        Just("192.0.2.1".to_owned()),
        Just("\"[2001:db8::1]:80\"".to_owned()),
        Just("unknown".to_owned()),
        Just("_x".to_owned()),
    ];
    let text = prop::collection::vec(
        prop_oneof!["[ !#-\\[\\]-~]", Just("\\\"".to_owned()), Just("\\\\".to_owned())],
        0..8,
    );
    (node, text).prop_map(|(node, text)| format!("for={node};note=\"{}\"", text.concat()))
}

/// Cuts at commas outside quotes, reading from the left as the grammar does.
fn from_the_left(line: &str) -> Vec<&str> {
    let (mut elements, mut start, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, character) in line.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => {
                elements.push(line[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    elements.push(line[start..].trim());
    elements
}

proptest! {
    #[test]
    fn reading_from_the_right_cuts_where_reading_from_the_left_does(elements in prop::collection::vec(element(), 1..6)) {
        let line = elements.join(", ");
        let mut rest = Some(line.as_bytes());
        let mut found = Vec::new();
        while let Some(line) = rest {
            let (left, element) = forwarded_split_last(line);
            found.insert(0, std::str::from_utf8(element.unwrap()).unwrap());
            rest = left;
        }
        prop_assert_eq!(found, from_the_left(&line));
    }

    #[test]
    fn nothing_that_a_client_writes_changes_what_its_proxy_appended(written in prop::collection::vec(any::<u8>(), 0..64)) {
        for (settings, name, appended) in [
            (x_forwarded_for(), "x-forwarded-for", &b", 203.0.113.9"[..]),
            (forwarded(), "forwarded", &b", for=203.0.113.9"[..]),
        ] {
            let value = [&written[..], appended].concat();
            if let Ok(value) = HeaderValue::from_bytes(&value) {
                let map = HeaderMap::from_iter([(name.parse::<HeaderName>().unwrap(), value)]);
                let client = resolve(&settings, Some(ip(PEER)), Headers::Map(&map));
                prop_assert_eq!(client.address, Some(ip("203.0.113.9")));
            }
        }
    }

    #[test]
    fn no_bytes_upset_the_parsers(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = (x_forwarded_for_hop(&bytes), forwarded_hop(&bytes));
        let (rest, element) = forwarded_split_last(&bytes);
        prop_assert!(rest.map_or(0, <[u8]>::len) + element.map_or(0, <[u8]>::len) <= bytes.len());
    }
}
