//! Cookies of a request (RFC 6265, 4.2.1 and 5.4).

/// The values of the cookies called `name` in one `Cookie` field's `value`, in order, without the quotes around them.
pub(crate) fn values<'a>(value: &'a [u8], name: &str) -> impl Iterator<Item = &'a [u8]> {
    value.split(|byte| *byte == b';').filter_map(move |pair| {
        let pair = pair.trim_ascii();
        let equals = pair.iter().position(|byte| *byte == b'=')?;
        (pair[..equals].trim_ascii_end() == name.as_bytes())
            .then(|| unquoted(pair[equals + 1..].trim_ascii_start()))
    })
}

fn unquoted(value: &[u8]) -> &[u8] {
    value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::values;

    #[test]
    fn cookies() {
        let cases: [(&str, &[&str]); 8] = [
            ("session=abc", &["abc"]),
            ("a=1; session=abc; b=2", &["abc"]),
            ("session=\"a b\"", &["a b"]),
            ("session=a=b==", &["a=b=="]),
            ("session=a; session=b", &["a", "b"]),
            ("xsession=a;sessionx=b; Session=c", &[]),
            ("session", &[]),
            ("a=\"; session=x", &["x"]),
        ];
        for (field, wanted) in cases {
            let found: Vec<_> = values(field.as_bytes(), "session").collect();
            let wanted: Vec<_> = wanted.iter().map(|value| value.as_bytes()).collect();
            assert_eq!(found, wanted, "{field}");
        }
    }
}
