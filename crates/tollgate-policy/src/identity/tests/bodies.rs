//! Identities that the body says.

use super::{address_key, keyed_by};
use crate::Rejection;
use crate::testing::{Request, at};

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

fn login(kind: &str, body: &str) -> Request {
    Request::get("/login").method("POST").header("content-type", kind).body(body)
}

#[test]
fn json_and_forms_name_who_asks() {
    let json = keyed_by("{ json: /user/name, fold: case }", "ip");
    let ada = login(JSON, r#"{"user":{"name":"ada"}}"#).key(&json);
    assert_ne!(ada, address_key(&json));
    assert_eq!(login(JSON, r#"{"user":{"name":"ＡＤＡ"},"x":[1]}"#).key(&json), ada);
    assert_eq!(login(JSON, r#" {"user" : {"n\u0061me":"Ada"}}"#).key(&json), ada);
    assert_ne!(login(JSON, r#"{"user":{"name":"bob"}}"#).key(&json), ada);
    let form = keyed_by("{ form: user, fold: case }", "ip");
    let ada = login(FORM, "user=ada&password=x").key(&form);
    assert_ne!(ada, address_key(&form));
    assert_eq!(login(FORM, "password=y&us%65r=%41da").key(&form), ada);
    assert_eq!(login(FORM, "user=ada&user=ada").key(&form), ada);
    let number = keyed_by("{ json: /id }", "ip");
    assert_eq!(login(JSON, r#"{"id":7}"#).key(&number), login(JSON, r#"{"id":"7"}"#).key(&number));
}

#[test]
fn a_body_that_names_nobody_follows_missing() {
    let who = "[{ json: /user }, { form: user }]";
    let (ip, reject) = (keyed_by(who, "ip"), keyed_by(who, "reject"));
    let long = format!(r#"{{"user":"ada","x":"{}"}}"#, "x".repeat(64 << 10));
    for request in [
        Request::get("/login"),
        login(JSON, &long),
        login(JSON, r#"{"user":"ada""#),
        login(JSON, r#"{"user":["ada"]}"#),
        login(JSON, r#"{"user":""}"#),
        login(JSON, r#"{"user":"ada","user":"bob"}"#),
        login(JSON, r#"{"user":"ada","USER":"bob"}"#),
        login(JSON, "user=ada"),
        login(FORM, "user=ada&user=bob"),
        login(FORM, r#"{"user":"ada"}"#),
        login("text/plain", "user=ada"),
        login(JSON, r#"{"user":"ada"}"#).header("content-encoding", "gzip"),
        login(JSON, r#"{"user":"ada"}"#).header("content-type", FORM),
    ] {
        assert_eq!(request.key(&ip), address_key(&ip), "{request:?}");
        let charges = request.charges_at(&reject, at(0));
        assert!(matches!(charges, Err(Rejection::MissingIdentity { .. })), "{request:?}");
    }
}

/// Else a guesser who changes from JSON to a form would begin anew.
#[test]
fn an_account_is_one_however_the_body_is_written() {
    let both = keyed_by("[{ query: user }, { json: /user }, { form: user }]", "reject");
    let json = login(JSON, r#"{"user":"ada"}"#).key(&both);
    assert_eq!(login(FORM, "user=ada").key(&both), json);
    assert_ne!(Request::get("/login?user=ada").key(&both), json);
}

/// Readers differ in which of two names they take; a body that has both must not open a way around a limit.
#[test]
fn two_names_are_no_way_around_a_limit_that_is_skipped() {
    let skip = keyed_by("{ json: /user }", "skip");
    assert_eq!(login(JSON, "{}").charges_at(&skip, at(0)), Ok(vec![]));
    for body in [r#"{"user":"ada","user":"bob"}"#, r#"{"User":"ada"}"#] {
        let charges = login(JSON, body).charges_at(&skip, at(0)).expect("charges");
        assert_eq!(charges[0].2, address_key(&keyed_by("ip", "ip")), "{body}");
    }
}

/// One body that is both: the type says which of them the service reads, and so who is counted.
#[test]
fn a_form_within_json_and_json_within_a_form() {
    for who in ["[{ json: /user }, { form: user }]", "[{ form: user }, { json: /user }]"] {
        let policy = keyed_by(who, "ip");
        let both = r#"{"user":"decoy","x":"&user=victim&"}"#;
        let (json, form) = (login(JSON, r#"{"user":"decoy"}"#), login(FORM, "user=victim"));
        assert_eq!(login(JSON, both).key(&policy), json.key(&policy), "{who}");
        assert_eq!(login(FORM, both).key(&policy), form.key(&policy), "{who}");
        let untyped = Request::get("/login").method("POST").body(both);
        assert_eq!(untyped.key(&policy), json.key(&policy), "{who}");
    }
}
