//! Any body under any type: an identity is looked for in it without a panic, and what is found is what a whole reader finds.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tollgate_core::Timestamp;
use tollgate_policy::file::{Surroundings, read};
use tollgate_policy::{Charges, Facts, Headers, Policy, readable_key};

/// One limit by the identity that the body says; nobody is `(none)`.
static POLICY: LazyLock<Policy> = LazyLock::new(|| {
    let text = "
gateway: { max_identity_body: 4096 }
identity: { who: [{ json: /a/0 }, { form: a }] }
limits: { it: { key: [who], missing: share, fixed_window: { limit: 1, window: 1m } } }
routes: [{ limits: [it] }]
";
    let settings =
        read("policy.yaml", text, &Surroundings::new(Path::new("."))).expect("valid").settings;
    Policy::compile(settings).expect("a policy")
});

fuzz_target!(|data: &[u8]| {
    let Some((&choice, body)) = data.split_first() else { return };
    let pairs: &[(&str, &str)] = match choice & 3 {
        0 => &[("content-type", "application/json")],
        1 => &[("content-type", "application/x-www-form-urlencoded")],
        2 => &[("content-type", "text/plain")],
        _ => &[],
    };
    let facts = Facts { body: Some(body), ..Facts::new("POST", "/", Headers::Pairs(pairs)) };
    let mut charges = Charges::default();
    let now = Timestamp::from_micros(1_767_225_600_000_000);
    POLICY.charges(&facts, now, |subject| subject.class, &mut charges).expect("nobody is rejected");
    let (_, key) = charges.iter().next().expect("the limit is asked");
    let found = (key.len() > 1).then(|| readable_key(key));
    let Some(found) = found else { return };
    assert!(body.len() <= 4096 && choice & 3 != 2, "{found:?} in a body that is not read");
    let in_json = in_json(body);
    let in_form = in_form(body);
    match choice & 3 {
        0 => assert!(in_json.is_none_or(|text| text == found)),
        1 => assert!(in_form == found),
        _ => assert!(in_json.is_none_or(|text| text == found) || in_form == found),
    }
});

/// What a reader of whole documents finds; `None` where it gives up, for it bounds the depth of all that it reads.
fn in_json(body: &[u8]) -> Option<String> {
    let document: serde_json::Value = serde_json::from_slice(body).ok()?;
    Some(match document.pointer("/a/0")? {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    })
}

/// The first value of the field, as browsers' own code reads it.
fn in_form(body: &[u8]) -> String {
    let mut pairs = form_urlencoded::parse(body);
    let value = pairs.find(|(name, value)| name == "a" && !value.is_empty());
    value.map(|(_, value)| value.into_owned()).unwrap_or_default()
}
