//! Header fields in one piece. Hardly a request is made anew: to share each name and value of all that might be would cost
//! four times as much as to copy their bytes.

use http::header::{HeaderMap, HeaderName, HeaderValue};

/// Of a field, before its bytes: a value that must not be indexed.
const SENSITIVE: u64 = 1 << 63;

/// A copy of header fields: of each eight bytes with the lengths of its name and value, then both.
#[derive(Debug)]
pub(super) struct Fields(Vec<u8>);

impl Fields {
    /// Those of `headers`.
    pub(super) fn of(headers: &HeaderMap) -> Fields {
        // Most requests' fields fit.
        let mut bytes = Vec::with_capacity(512);
        for (name, value) in headers {
            let flag = if value.is_sensitive() { SENSITIVE } else { 0 };
            // A name has fewer than 2^16 bytes, and a value, as any, fewer than 2^47.
            let head = (value.len() as u64) << 16 | name.as_str().len() as u64 | flag;
            bytes.extend_from_slice(&head.to_le_bytes());
            bytes.extend_from_slice(name.as_str().as_bytes());
            bytes.extend_from_slice(value.as_bytes());
        }
        Fields(bytes)
    }

    /// The fields as they were.
    pub(super) fn map(&self) -> Option<HeaderMap> {
        let (mut headers, mut rest) = (HeaderMap::new(), &*self.0);
        while !rest.is_empty() {
            let (head, after) = rest.split_first_chunk()?;
            let head = u64::from_le_bytes(*head);
            let (name, after) = after.split_at_checked((head & 0xffff) as usize)?;
            let (value, after) = after.split_at_checked(((head & !SENSITIVE) >> 16) as usize)?;
            let mut value = HeaderValue::from_bytes(value).ok()?;
            value.set_sensitive(head & SENSITIVE != 0);
            headers.append(HeaderName::from_bytes(name).ok()?, value);
            rest = after;
        }
        Some(headers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_out_is_what_went_in() {
        let mut headers = HeaderMap::new();
        for (name, value) in
            [("host", "a.example"), ("x-a", "1"), ("x-a", ""), ("x-b", "\u{e9} \t")]
        {
            let value = HeaderValue::from_bytes(value.as_bytes()).expect("a value");
            headers.append(HeaderName::from_static(name), value);
        }
        let mut secret = HeaderValue::from_static("s");
        secret.set_sensitive(true);
        headers.insert("authorization", secret);
        let again = Fields::of(&headers).map().expect("the same");
        assert_eq!(again, headers);
        assert!(again["authorization"].is_sensitive() && !again["host"].is_sensitive());
        assert_eq!(Fields::of(&HeaderMap::new()).map(), Some(HeaderMap::new()));
    }
}
