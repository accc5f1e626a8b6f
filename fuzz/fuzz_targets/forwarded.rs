//! Any `X-Forwarded-For` or `Forwarded` lines: an address is found without a panic, and only one that somebody wrote.
#![no_main]

use std::net::IpAddr;

use http::{HeaderMap, HeaderName, HeaderValue};
use libfuzzer_sys::fuzz_target;
use tollgate_http::client_address::{
    forwarded_hop, forwarded_split_last, resolve, x_forwarded_for_hop,
};
use tollgate_policy::{ClientAddress, ForwardedHeader, Headers, Hops};

fuzz_target!(|data: &[u8]| {
    let Some((&choice, text)) = data.split_first() else { return };
    let (header, name) = if choice & 1 == 0 {
        (ForwardedHeader::XForwardedFor, HeaderName::from_static("x-forwarded-for"))
    } else {
        (ForwardedHeader::Forwarded, HeaderName::from_static("forwarded"))
    };
    let hops = match choice >> 1 & 3 {
        0 => Hops::Trusted(Vec::new()),
        1 => Hops::Trusted(
            ["10.0.0.0/8", "fd00::/8"].iter().filter_map(|net| net.parse().ok()).collect(),
        ),
        2 => {
            Hops::Trusted(["0.0.0.0/0", "::/0"].iter().filter_map(|net| net.parse().ok()).collect())
        }
        _ => Hops::Count(u32::from(choice >> 3)),
    };
    let trusts_nobody = hops == Hops::Trusted(Vec::new());
    let peer = (choice >> 7 == 0).then_some(IpAddr::from([10, 0, 0, 1]));
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let mut headers = HeaderMap::new();
    for line in &lines {
        if let Ok(value) = HeaderValue::from_bytes(line) {
            headers.append(&name, value);
        }
    }
    let settings = ClientAddress { hops, header, ..ClientAddress::default() };
    let client = resolve(&settings, peer, Headers::Map(&headers));
    if trusts_nobody {
        assert_eq!((client.address, client.trusted), (peer, false), "nobody's word counts");
    }
    let written = match header {
        ForwardedHeader::XForwardedFor => x_forwarded_for(&lines),
        ForwardedHeader::Forwarded => forwarded(&lines),
    };
    if let Some(address) = client.address.filter(|_| client.address != peer) {
        assert!(written.contains(&address), "{address} stands in no entry");
    }
});

/// The addresses of all entries.
fn x_forwarded_for(lines: &[&[u8]]) -> Vec<IpAddr> {
    lines
        .iter()
        .flat_map(|line| line.split(|byte| *byte == b','))
        .filter_map(x_forwarded_for_hop)
        .collect()
}

/// The addresses of all elements that can be told apart from the right.
fn forwarded(lines: &[&[u8]]) -> Vec<IpAddr> {
    let mut found = Vec::new();
    for line in lines {
        let mut rest = Some(*line);
        while let Some(text) = rest {
            let (before, element) = forwarded_split_last(text);
            assert!(
                before.is_none_or(|before| before.len() < text.len()),
                "every cut makes it shorter"
            );
            found.extend(element.and_then(forwarded_hop));
            rest = before;
        }
    }
    found
}
