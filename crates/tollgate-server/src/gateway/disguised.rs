//! Fields in disguise: `X_Forwarded_For` and its like. Services that know fields as variables (CGI, WSGI, FastCGI) spell both with an
//! underscore, and would take a client's word for the gateway's.

use http::header::{HeaderMap, HeaderName};
use smallvec::SmallVec;

/// What the gateway itself says to a service, or how a message is framed.
const OWN: [&str; 5] = [
    "content-length",
    "transfer-encoding",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
];

/// Whether `name` is one of the gateway's own but for its underscores. Names are in lower case.
pub(super) fn is_disguised(name: &str) -> bool {
    // Most names are told apart by their length, and the others have none.
    matches!(name.len(), 14..=17)
        && name.contains('_')
        && OWN.iter().any(|own| {
            let alike = |(one, other): (u8, u8)| one == other || (one == b'_' && other == b'-');
            own.len() == name.len() && name.bytes().zip(own.bytes()).all(alike)
        })
}

/// Drops those that are there.
pub(super) fn drop(headers: &mut HeaderMap) {
    let found: SmallVec<[HeaderName; 4]> =
        headers.keys().filter(|name| is_disguised(name.as_str())).cloned().collect();
    for name in found {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use http::header::HeaderValue;

    use super::*;

    #[test]
    fn only_what_pretends_to_be_ours_goes() {
        let mut headers = HeaderMap::new();
        let kept = ["x-forwarded-for", "x_forwarded_fox", "user_id", "x-forwarded-by_", "te"];
        let dropped = [
            "x_forwarded_for",
            "x-forwarded_for",
            "x_forwarded-host",
            "x_forwarded_proto",
            "content_length",
            "transfer_encoding",
        ];
        for name in kept.iter().chain(&dropped) {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static("x"));
        }
        drop(&mut headers);
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), kept);
    }
}
