//! Paths: the cases, and what holds for all of them.

use std::borrow::Cow;

use proptest::prelude::*;

use super::{BadPath, decode, is_usual, merge, normalise};

#[test]
fn normal_forms() {
    let cases = [
        ("/", "/"),
        ("", "/"),
        ("*", "*"),
        ("/v1/x", "/v1/x"),
        ("/v1/x/", "/v1/x/"),
        ("//v1///x//", "/v1/x/"),
        ("/api/%6Cogin", "/api/login"),
        ("/%7euser/%2D%2e%5F", "/~user/-._"),
        ("/a/./b/../c", "/a/c"),
        ("/a/b/..", "/a/"),
        ("/a/b/.", "/a/b/"),
        ("/..", "/"),
        ("/../../etc/passwd", "/etc/passwd"),
        ("/%2e%2e/%2E./x", "/x"),
        ("/a//../b", "/a/b"),
        ("/a/%2e%2e//b", "/b"),
        ("/...", "/..."),
        ("/.well-known/x", "/.well-known/x"),
        ("/a./b..", "/a./b.."),
        ("/%e2%82%ac", "/%E2%82%AC"),
        ("/€", "/%E2%82%AC"),
        ("/a b\"<>", "/a%20b%22%3C%3E"),
        ("/%2541", "/%2541"),
        ("/%252e%252e/x", "/%252e%252e/x"),
        ("/a;b=1,c:@!$&'()*+", "/a;b=1,c:@!$&'()*+"),
        ("/%3b", "/%3B"),
        ("/a?b#c", "/a%3Fb%23c"),
        ("/health-check/../admin", "/admin"),
    ];
    for (path, normal) in cases {
        assert_eq!(normalise(path).as_deref(), Ok(normal), "{path}");
    }
}

#[test]
fn paths_without_a_normal_form() {
    let cases = [
        ("/a%2Fb", BadPath::HiddenSeparator),
        ("/a%2fb", BadPath::HiddenSeparator),
        ("/a%5Cb", BadPath::HiddenSeparator),
        ("/a%5cb", BadPath::HiddenSeparator),
        ("/a\\b", BadPath::HiddenSeparator),
        ("/a%00", BadPath::Control),
        ("/a\0", BadPath::Control),
        ("/a\r\n", BadPath::Control),
        ("/100%", BadPath::Escape),
        ("/%4", BadPath::Escape),
        ("/%zz", BadPath::Escape),
        ("/%+1", BadPath::Escape),
        ("v1/x", BadPath::Relative),
        ("http://h/v1", BadPath::Relative),
    ];
    for (path, bad) in cases {
        assert_eq!(normalise(path), Err(bad), "{path:?}");
    }
}

#[test]
fn an_ordinary_path_is_borrowed() {
    for path in ["/", "/v1/chat/completions", "/a.b/c.json", "/x/", "/caf%C3%A9/%25"] {
        assert!(matches!(normalise(path), Ok(Cow::Borrowed(_))), "{path}");
    }
}

proptest! {
    #[test]
    fn never_panics_and_is_stable(path in "\\PC*|/[%2eEfF5cC/.a\\x00-\\xff]{0,24}") {
        if let Ok(normal) = normalise(&path) {
            prop_assert_eq!(normalise(&normal), Ok(normal.clone()));
        }
    }

    #[test]
    fn a_usual_path_is_normal(path in "/[a-z/.]{0,3}[a-zA-Z0-9_~./-]{0,24}[/.a]{0,3}", odd in 0_u8..=255, place in 0_usize..90) {
        let mut path = path.into_bytes();
        if let Some(byte) = path.get_mut(place) {
            *byte = odd;
        }
        if is_usual(&path) {
            prop_assert!(path[1..].iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._/".contains(byte)));
            prop_assert_eq!(merge(&decode(&path).expect("nothing bad in it")).into_bytes(), path);
        }
    }

    #[test]
    fn never_escapes_the_root(path in "/([./]|%2e|%2E|a|/){0,24}") {
        let normal = normalise(&path).expect("nothing bad in it");
        prop_assert!(normal.starts_with('/'));
        prop_assert!(!normal.contains("//"));
        prop_assert!(!normal.split('/').any(|segment| segment == "." || segment == ".."));
    }

    #[test]
    fn escaping_an_unreserved_character_changes_nothing(path in "/[a-z0-9~_./-]{0,16}", place in 1_usize..17) {
        let place = place.min(path.len());
        let mut other = path[..place].to_owned();
        for byte in path[place..].bytes() {
            if byte == b'/' { other.push('/') } else { other.push_str(&format!("%{byte:02x}")) }
        }
        prop_assert_eq!(normalise(&other), normalise(&path));
    }
}
