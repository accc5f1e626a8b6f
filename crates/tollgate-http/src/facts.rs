//! What a policy must know of a live request.

use std::net::IpAddr;

use http::request::Parts;
use tollgate_policy::{ClientAddress, Facts, Headers};

use crate::client_address;

/// The facts of a request whose socket's peer is `peer`, borrowed from its head. `settings` is the policy's own:
/// `policy.client_address()`.
#[must_use]
pub fn facts_of<'a>(settings: &ClientAddress, peer: Option<IpAddr>, parts: &'a Parts) -> Facts<'a> {
    let headers = Headers::Map(&parts.headers);
    let client = client_address::resolve(settings, peer, headers);
    Facts {
        authority: parts.uri.authority().map(http::uri::Authority::as_str),
        query: parts.uri.query(),
        client: client.address,
        trusted: client.trusted,
        ..Facts::new(parts.method.as_str(), parts.uri.path(), headers)
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn parts(request: http::request::Builder) -> Parts {
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn a_request_in_origin_form() {
        let request = Request::get("/v1/a%20b?x=1&y").header("host", "api.example:8080");
        let parts = parts(request.header("x-forwarded-for", "203.0.113.9"));
        let settings = ClientAddress::default();
        let facts = facts_of(&settings, Some([10, 0, 0, 5].into()), &parts);
        assert_eq!((facts.method, facts.path, facts.query), ("GET", "/v1/a%20b", Some("x=1&y")));
        assert_eq!(facts.host(), Some("api.example:8080"));
        assert_eq!((facts.client, facts.trusted), (Some([10, 0, 0, 5].into()), false));
        assert_eq!((facts.cost, facts.body), (None, None));
    }

    #[test]
    fn the_targets_authority_goes_before_the_host_field() {
        let request = Request::get("http://real.example/").header("host", "other.example");
        let parts = parts(request);
        let facts = facts_of(&ClientAddress::default(), None, &parts);
        assert_eq!((facts.host(), facts.path), (Some("real.example"), "/"));
        assert_eq!(facts.client, None);
    }

    #[test]
    fn a_host_that_is_no_text_is_none() {
        let parts = parts(Request::get("/").header("host", &b"a\xff"[..]));
        assert_eq!(facts_of(&ClientAddress::default(), None, &parts).host(), None);
    }
}
