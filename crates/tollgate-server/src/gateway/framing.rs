//! Where a message ends: it must be plain to every reader (RFC 9112, 6.3).

use http::header::{HeaderMap, TRANSFER_ENCODING};

use super::hop_by_hop::members;
use super::survey::{Field, Survey};

/// Whether an answer says in one way where it ends. hyper lets several equal lengths pass as they are, and any length beside
/// a status that has no body; `survey` is of `headers`.
pub(super) fn is_plain(headers: &HeaderMap, survey: Survey) -> bool {
    let coded = survey.has(Field::TransferEncoding);
    !survey.repeats(Field::ContentLength) && (!coded || is_plainly_coded(headers))
}

/// Whether the body comes in no transfer coding, or in `chunked` once: all that this gateway can undo. Any other coding would
/// be passed on unnamed.
pub(super) fn is_plainly_coded(headers: &HeaderMap) -> bool {
    let mut codings = members(headers, &TRANSFER_ENCODING);
    codings.next().is_none_or(|coding| coding.eq_ignore_ascii_case("chunked"))
        && codings.next().is_none()
}

#[cfg(test)]
mod tests {
    use http::header::HeaderValue;

    use super::*;

    fn headers(name: &'static str, lines: &[&'static str]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for line in lines {
            map.append(name, HeaderValue::from_static(line));
        }
        map
    }

    #[test]
    fn codings_that_can_be_undone() {
        let plain = |lines: &[&'static str]| is_plainly_coded(&headers("transfer-encoding", lines));
        assert!(plain(&[]));
        assert!(plain(&["Chunked"]));
        assert!(!plain(&["gzip, chunked"]));
        assert!(!plain(&["chunked", "chunked"]));
        assert!(!plain(&["chunked", ""]));
        assert!(!plain(&["chunked;q=1"]));
    }

    #[test]
    fn lengths_that_can_be_read_in_one_way() {
        let plain = |lines: &[&'static str]| {
            let map = headers("content-length", lines);
            is_plain(&map, Survey::of(&map))
        };
        assert!(plain(&[]) && plain(&["0"]) && plain(&["18446744073709551615"]));
        for lines in [
            &["5", "5"][..],
            &["5", "6"],
            &["5, 5"],
            &["+5"],
            &["-5"],
            &["0x5"],
            &[""],
            &["5 5"],
            &["18446744073709551616"],
        ] {
            assert!(!plain(lines), "{lines:?}");
        }
    }
}
