//! Tokens: every kind of key, and every way not to verify.

pub(crate) mod material;

use std::io::Write;

use http::HeaderName;
use tempfile::NamedTempFile;
use tollgate_core::Timestamp;

use super::*;
use crate::settings::Secret;
use crate::testing::at;
use material::*;

fn with_file(text: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a file");
    file.write_all(text.as_bytes()).expect("room");
    file
}

fn used(keys: JwtKeys, issuer: Option<&str>, audience: Option<&str>) -> TokenUse {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let header = HeaderName::from_static("authorization");
    TokenUse::new(header, &keys, &owned(issuer), &owned(audience), 0)
}

fn hmac() -> JwtKeys {
    JwtKeys::Hmac { algorithm: "HS256".into(), secret: Secret(SECRET.as_bytes().to_vec()) }
}

fn pem(algorithm: &str, file: &NamedTempFile) -> JwtKeys {
    JwtKeys::Pem { algorithm: algorithm.into(), file: file.path().to_owned() }
}

fn verifies(keys: &TokenKeys, token: &str, now: Timestamp) -> bool {
    let claims = keys.verify(token.as_bytes(), now);
    claims.is_some_and(|claims| claims.text("sub", |text| text == b"alice") == Some(true))
}

#[test]
fn every_kind_of_key() {
    let cases = [
        ("RS256", RSA_PEM, RSA),
        ("PS256", RSA_PEM, PSS),
        ("ES256", EC_PEM, EC),
        ("ES384", EC_384_PEM, EC_384),
        ("EdDSA", ED_PEM, ED),
    ];
    for (algorithm, key, token) in cases {
        let file = with_file(key);
        let keys = used(pem(algorithm, &file), None, None).read().expect(algorithm);
        assert!(verifies(&keys, token, at(0)), "{algorithm}");
        for (other, _, foreign) in cases.iter().filter(|(name, ..)| *name != algorithm) {
            assert!(!verifies(&keys, foreign, at(0)), "{other} passed as {algorithm}");
        }
    }
    let keys = used(hmac(), None, None).read().expect("a secret");
    assert!(verifies(&keys, HMAC, at(0)));
}

#[test]
fn the_algorithm_is_the_policys_and_never_the_tokens() {
    let file = with_file(RSA_PEM);
    let keys = used(pem("RS256", &file), None, None).read().expect("a key");
    assert!(!verifies(&keys, CONFUSED, at(0)));
    assert!(!verifies(&keys, UNSIGNED, at(0)));
    assert!(!verifies(&keys, PSS, at(0)));
    let wrong = used(pem("HS256", &file), None, None).read();
    assert!(wrong.expect_err("a public key is no secret").contains("HS256"));
}

#[test]
fn times_go_by_the_decisions_moment() {
    let keys = used(hmac(), None, None).read().expect("a secret");
    let micro = |offset: i64| Timestamp::from_micros(at(0).as_micros().wrapping_add_signed(offset));
    assert!(!verifies(&keys, HMAC, micro(-1)));
    assert!(verifies(&keys, HMAC, micro(0)));
    assert!(verifies(&keys, HMAC, micro(3_599_999_999)));
    assert!(!verifies(&keys, HMAC, micro(3_600_000_000)));
    assert!(verifies(&keys, HALF_A_SECOND, micro(499_999)));
    assert!(!verifies(&keys, HALF_A_SECOND, micro(500_000)));
    assert!(verifies(&keys, FOREVER, Timestamp::MAX));
    assert!(!verifies(&keys, EXPIRES_SOON, micro(0)));
}

#[test]
fn issuer_and_audience_must_be_right_where_they_are_asked_for() {
    let verifies_with = |issuer, audience, token| {
        verifies(&used(hmac(), issuer, audience).read().expect("a secret"), token, at(0))
    };
    assert!(verifies_with(Some("https://issuer.example"), Some("shop"), HMAC));
    assert!(!verifies_with(Some("https://other.example"), None, HMAC));
    assert!(!verifies_with(None, Some("bank"), HMAC));
    // A token that says neither.
    assert!(!verifies_with(Some("https://issuer.example"), None, FOREVER));
    assert!(!verifies_with(None, Some("shop"), FOREVER));
}

#[test]
fn a_token_names_its_key_in_a_set() {
    let file = with_file(JWKS);
    let set = JwtKeys::Jwks { file: file.path().to_owned() };
    let keys = used(set, None, None).read().expect("a set");
    for token in [RSA, EC, ED] {
        assert!(verifies(&keys, token, at(0)));
    }
    // Without a name it fits none of several; PS256 is not what the set's RSA key is for.
    assert!(!verifies(&keys, RSA_WITHOUT_KID, at(0)));
    assert!(!verifies(&keys, PSS, at(0)));
    let alone = with_file(RSA_PEM);
    let keys = used(pem("RS256", &alone), None, None).read().expect("a key");
    assert!(verifies(&keys, RSA_WITHOUT_KID, at(0)));
}

#[test]
fn claims_are_text_numbers_and_truths() {
    let keys = used(hmac(), None, None).read().expect("a secret");
    let claims = keys.verify(HMAC.as_bytes(), at(0)).expect("claims");
    let text = |claim: &str| claims.text(claim, <[u8]>::to_vec);
    assert_eq!(text("sub").as_deref(), Some(&b"alice"[..]));
    assert_eq!(text("tenant").as_deref(), Some(&b"42"[..]));
    assert_eq!(text("admin").as_deref(), Some(&b"true"[..]));
    assert_eq!(text("roles"), None);
    assert_eq!(text("absent"), None);
}

#[test]
fn what_is_no_token_does_not_verify() {
    let keys = used(hmac(), None, None).read().expect("a secret");
    let tampered = HMAC.replacen("eyJ", "eyK", 1);
    for token in
        ["", ".", "..", "a.b.c", &HMAC[..HMAC.len() - 1], &tampered, "\u{e9}.\u{e9}.\u{e9}"]
    {
        assert!(!verifies(&keys, token, at(0)), "{token}");
    }
}

#[test]
fn files_that_hold_no_key_say_so() {
    let file = with_file("nothing");
    let error = used(pem("RS256", &file), None, None).read().expect_err("no key");
    assert!(error.contains("RS256"), "{error}");
    let set = JwtKeys::Jwks { file: file.path().to_owned() };
    assert!(used(set, None, None).read().expect_err("no set").contains("Key Set"));
    let empty = with_file("{\"keys\":[]}");
    let set = JwtKeys::Jwks { file: empty.path().to_owned() };
    assert!(used(set, None, None).read().expect_err("no key").contains("no key"));
}

#[test]
fn a_token_that_is_remembered_still_expires_and_no_other_passes_for_it() {
    let keys = used(hmac(), None, None).read().expect("a secret");
    for _ in 0..2 {
        assert!(verifies(&keys, HMAC, at(0)));
        assert!(!verifies(&keys, HMAC, at(3_600)));
        assert!(!verifies(&keys, &format!("{HMAC}A"), at(0)));
    }
    // A newcomer to a place pushes out who was there.
    let digest = |first: u8, last: u8| {
        let mut digest = [0; 32];
        (digest[0], digest[31]) = (first, last);
        digest
    };
    let claims = keys.verify(HMAC.as_bytes(), at(0)).expect("claims");
    let verified = Verified::default();
    verified.put(digest(1, 1), &claims);
    verified.put(digest(2, 1), &claims);
    verified.put(digest(1, 2), &claims);
    assert!(verified.get(&digest(1, 1)).is_none());
    assert!(verified.get(&digest(2, 1)).is_some());
    assert!(verified.get(&digest(1, 2)).is_some());
}
