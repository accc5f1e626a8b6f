//! W3C trace context: whether what a client sends of it may be passed on.
//!
//! Both fields are checked by the grammar of the recommendation, and never changed: the gateway is no span of a trace, it
//! only carries it.

use std::fmt::Write as _;

use http::header::{HeaderMap, HeaderName, HeaderValue};

/// `traceparent`.
pub const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// `tracestate`.
pub const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// The most vendors that `tracestate` may name.
const MOST_MEMBERS: usize = 32;

/// Keeps of the trace context in `headers` what is valid and drops the rest; answers whether a `traceparent` is left. A
/// `tracestate` says nothing without one.
pub fn keep_valid(headers: &mut HeaderMap) -> bool {
    let mut parents = headers.get_all(&TRACEPARENT).iter();
    let kept = match (parents.next(), parents.next()) {
        (Some(only), None) => is_traceparent(only.as_bytes()),
        _ => false,
    };
    if !kept {
        headers.remove(&TRACEPARENT);
    }
    if headers.contains_key(&TRACESTATE) {
        let states = headers.get_all(&TRACESTATE);
        if !kept || !is_tracestate(states.iter().map(HeaderValue::as_bytes)) {
            headers.remove(&TRACESTATE);
        }
    }
    kept
}

/// A `traceparent` that begins a trace of 128 random bits, with the sampled flag: whoever follows its parent's word in
/// sampling then does as if it had begun the trace itself. `None` for zeros, which are no trace and no parent.
#[must_use]
pub fn new_traceparent(trace: u128, parent: u64) -> Option<HeaderValue> {
    if trace == 0 || parent == 0 {
        return None;
    }
    let mut text = String::with_capacity(55);
    write!(text, "00-{trace:032x}-{parent:016x}-01").ok()?;
    HeaderValue::try_from(text).ok()
}

/// Whether `value` is a `traceparent`: of version 00 in full, of a later one as far as version 00 knows it.
#[must_use]
pub fn is_traceparent(value: &[u8]) -> bool {
    let [a, b, b'-', rest @ ..] = value else { return false };
    let version = [*a, *b];
    let Some((trace, rest)) = rest.split_first_chunk::<32>() else { return false };
    let [b'-', rest @ ..] = rest else { return false };
    let Some((parent, rest)) = rest.split_first_chunk::<16>() else { return false };
    let [b'-', c, d, rest @ ..] = rest else { return false };
    let known = is_hex(&version)
        && version != *b"ff"
        && is_hex(trace)
        && is_hex(parent)
        && is_hex(&[*c, *d])
        && trace.iter().any(|digit| *digit != b'0')
        && parent.iter().any(|digit| *digit != b'0');
    known && (rest.is_empty() || (version != *b"00" && rest[0] == b'-'))
}

fn is_hex(digits: &[u8]) -> bool {
    digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether `lines`, in order, are a `tracestate`.
#[must_use]
pub fn is_tracestate<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut members: Vec<&[u8]> = Vec::new();
    for line in lines {
        for member in line.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            // Empty members are allowed and count for nothing.
            if member.is_empty() {
                continue;
            }
            let Some(key) = key_of(member) else { return false };
            if members.len() == MOST_MEMBERS || members.contains(&key) {
                return false;
            }
            members.push(key);
        }
    }
    true
}

/// The key of a member, where it is one.
fn key_of(member: &[u8]) -> Option<&[u8]> {
    let equals = member.iter().position(|byte| *byte == b'=')?;
    let (key, value) = (&member[..equals], &member[equals + 1..]);
    let valued = value.len() <= 256
        && !value.is_empty()
        && value.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'=');
    (valued && is_key(key)).then_some(key)
}

/// A vendor's key, or a tenant's at a vendor (`tenant@vendor`).
fn is_key(key: &[u8]) -> bool {
    let mut parts = key.splitn(2, |byte| *byte == b'@');
    let (first, vendor) = (parts.next().unwrap_or_default(), parts.next());
    let plain = |part: &[u8]| {
        part.iter()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/'))
    };
    let lower = |part: &[u8]| part.first().is_some_and(u8::is_ascii_lowercase);
    match vendor {
        None => first.len() <= 256 && lower(first) && plain(first),
        Some(vendor) => {
            let tenant =
                first.first().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
            tenant
                && first.len() <= 241
                && plain(first)
                && vendor.len() <= 14
                && lower(vendor)
                && plain(vendor)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn parents_of_this_version_and_of_later_ones() {
        let sound = |text: &str| is_traceparent(text.as_bytes());
        assert!(sound(PARENT));
        assert!(sound("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-comes"));
        for wrong in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0x",
        ] {
            assert!(!sound(wrong), "{wrong}");
        }
        let made = new_traceparent(1, u64::MAX).expect("a parent");
        assert!(is_traceparent(made.as_bytes()));
        assert_eq!(new_traceparent(0, 1), None);
    }

    #[test]
    fn states_name_each_vendor_once() {
        let sound = |lines: &[&str]| is_tracestate(lines.iter().map(|line| line.as_bytes()));
        assert!(sound(&["rojo=00f067aa0ba902b7 , congo=t61rcWkgMzE", "", "1t-/*_@v=x,,"]));
        let many: Vec<String> = (0..33).map(|number| format!("k{number}=v")).collect();
        assert!(sound(&[&many[..32].join(",")]));
        assert!(!sound(&[&many.join(",")]));
        for wrong in
            ["a", "=v", "A=v", "a=", "a=b=c", "a=1,a=2", "a=\u{1}", "a@=v", "a@1v=x", "1=v"]
        {
            assert!(!sound(&[wrong]), "{wrong}");
        }
        let long = "v".repeat(257);
        assert!(!sound(&[&format!("a={long}")]) && !sound(&[&format!("{}=v", "k".repeat(257))]));
    }

    fn kept(lines: &[(&'static str, &'static str)]) -> (bool, HeaderMap) {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, HeaderValue::from_static(value));
        }
        (keep_valid(&mut headers), headers)
    }

    #[test]
    fn what_is_valid_is_kept_as_it_is() {
        let (there, headers) =
            kept(&[("traceparent", PARENT), ("tracestate", "a=1"), ("tracestate", "b=2")]);
        assert!(there);
        assert_eq!(headers["traceparent"], PARENT);
        assert_eq!(headers.get_all("tracestate").iter().count(), 2);
        let (there, headers) = kept(&[("traceparent", PARENT), ("tracestate", "=")]);
        assert!(there && !headers.contains_key("tracestate"));
        let (there, headers) =
            kept(&[("traceparent", PARENT), ("traceparent", PARENT), ("tracestate", "a=1")]);
        assert!(!there && headers.is_empty(), "of two parents neither is known to be the one");
        let (there, headers) = kept(&[("tracestate", "a=1")]);
        assert!(!there && headers.is_empty());
    }
}
