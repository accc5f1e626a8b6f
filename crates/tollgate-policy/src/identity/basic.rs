//! The user of HTTP basic authentication (RFC 7617): a name only; nobody checked the password.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The user in an `Authorization` field; `None` where it is of another scheme or not well formed.
pub(crate) fn user(authorization: &[u8]) -> Option<Vec<u8>> {
    let token = scheme(authorization, b"basic")?;
    let mut pair = BASE64.decode(token).ok()?;
    let colon = pair.iter().position(|byte| *byte == b':')?;
    pair.truncate(colon);
    Some(pair)
}

/// What follows the scheme called `name` (in lower case) in an `Authorization` field.
pub(crate) fn scheme<'a>(authorization: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (scheme, rest) = authorization.split_at_checked(name.len())?;
    let token = rest.strip_prefix(b" ")?.trim_ascii();
    scheme.eq_ignore_ascii_case(name).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::user;

    #[test]
    fn users() {
        let cases: [(&str, Option<&[u8]>); 9] = [
            ("Basic YWxpY2U6c2VjcmV0", Some(b"alice")),
            ("bASIC   YWxpY2U6", Some(b"alice")),
            ("Basic YWxpY2U6YTpi", Some(b"alice")),
            ("Basic OnB3", Some(b"")),
            ("Basic YWxpY2U", None),
            ("Basic !!!", None),
            ("Basic", None),
            ("Bearer YWxpY2U6c2VjcmV0", None),
            ("", None),
        ];
        for (field, wanted) in cases {
            assert_eq!(user(field.as_bytes()).as_deref(), wanted, "{field}");
        }
    }
}
