//! Environment names and secrets.

use tollgate_policy::file::{self, Surroundings};
use tollgate_policy::settings::{JwtKeys, Secret, Settings, Source};

fn world() -> Surroundings {
    Surroundings::new("/nowhere").with_environment(|name| {
        let value = match name {
            "LIMIT" => "30",
            "ADDRESS" => "127.0.0.1:8080",
            "EMPTY" => "",
            "SECRET" => "hush",
            "DOLLAR" => "${LIMIT}",
            _ => return None,
        };
        Some(value.to_owned())
    })
}

fn read(text: &str) -> Result<Settings, String> {
    match file::read("p", text, &world()) {
        Ok(read) => Ok(read.settings),
        Err(report) => Err(report.to_string()),
    }
}

/// The refusal's title of a policy whose title is written so.
fn title(written: &str) -> Result<String, String> {
    let settings = read(&format!(
        "limits:\n  a:\n    key: [ip]\n    fixed_window: {{ limit: \"${{LIMIT}}\", window: 1m }}\n\
         \x20   refusal: {{ title: {written} }}\nroutes: []\n"
    ))?;
    settings.limits[0].refusal.title.clone().ok_or_else(|| "no title".to_owned())
}

#[test]
fn names_are_replaced() {
    for (written, expected) in [
        ("\"${LIMIT} a minute\"", "30 a minute"),
        ("'${LIMIT}${LIMIT}'", "3030"),
        ("\"${NOPE:-none}\"", "none"),
        ("\"${EMPTY:-none}\"", "none"),
        ("\"<${EMPTY}>\"", "<>"),
        ("\"${NOPE:-}.\"", "."),
        ("\"$${LIMIT}\"", "${LIMIT}"),
        ("costs $5", "costs $5"),
        ("\"$\"", "$"),
        ("\"$$\"", "$"),
        // What comes in is not looked through again.
        ("\"${DOLLAR}\"", "${LIMIT}"),
    ] {
        assert_eq!(title(written).as_deref(), Ok(expected), "{written}");
    }
}

#[test]
fn what_cannot_be_replaced_is_an_error_at_its_place() {
    for (written, expected) in [
        ("\"a ${NOPE}\"", "p:5:26: error: the environment has no `NOPE`"),
        ("\"${}\"", "p:5:24: error: `` is no environment name"),
        ("\"${A-B}\"", "p:5:24: error: `A-B` is no environment name"),
        ("\"${LIMIT\"", "p:5:23: error: `${` without `}`"),
    ] {
        let error = title(written).unwrap_err();
        assert!(error.starts_with(expected), "{error} of {written}");
    }
}

#[test]
fn addresses_and_numbers_may_come_from_the_environment() {
    let settings = read(
        "listen: ${ADDRESS}\nupstreams: { a: { servers: [\"h:1\"] } }\nroutes: [{ limits: [] }]\n",
    );
    assert_eq!(settings.unwrap().listeners[0].at.to_string(), "127.0.0.1:8080");
}

/// The secret of a policy whose `secret:` is written so.
fn secret(written: &str, world: &Surroundings) -> Result<Secret, String> {
    let text =
        format!("identity: {{ a: {{ jwt: {{ claim: sub, secret: {written} }} }} }}\nroutes: []\n");
    let read = file::read("p", &text, world).map_err(|report| report.to_string())?;
    match &read.settings.identities[0].sources[0] {
        Source::Jwt { keys: JwtKeys::Hmac { secret, .. }, .. } => Ok(secret.clone()),
        other => Err(format!("{other:?}")),
    }
}

#[test]
fn secrets_come_from_three_places_and_are_never_shown() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("key"), b"from a file\r\n").unwrap();
    std::fs::write(directory.path().join("empty"), b"\n").unwrap();
    let with_files = Surroundings::new(directory.path());
    let expect = |bytes: &[u8]| Ok(Secret(bytes.to_vec()));
    assert_eq!(secret("hush", &world()), expect(b"hush"));
    assert_eq!(secret("\"${SECRET}\"", &world()), expect(b"hush"));
    assert_eq!(secret("{ env: SECRET }", &world()), expect(b"hush"));
    assert_eq!(secret("{ file: key }", &with_files), expect(b"from a file"));
    for (written, words) in [
        ("{ env: NOPE }", "p:1:52: error: the environment has no `NOPE`"),
        ("{ env: EMPTY }", "the secret is empty"),
        ("{ file: empty }", "the secret is empty"),
        ("{ file: nope }", "`nope` cannot be read"),
        ("{ env: A, file: b }", "a secret is in one place"),
    ] {
        let here = if written.contains("file") { &with_files } else { &world() };
        let error = secret(written, here).unwrap_err();
        assert!(error.contains(words), "{error} of {written}");
    }
    let shown = format!("{:?}", secret("hush", &world()).unwrap());
    assert!(!shown.contains("hush"), "{shown}");
}

#[test]
fn names_need_no_quotes_within_braces() {
    let text = "limits:\n  a: { key: [ip], fixed_window: { limit: ${LIMIT}, window: ${NOPE:-1m} } }\n\
                routes: [{ limits: [${NOPE:-a}] }]\n";
    let settings = read(text).unwrap();
    assert_eq!(settings.routes[0].limits, [0]);
    // Places behind a name are those of the text as written.
    let wrong = text.replace("window: $", "windw: $").replace("[${", "[${LIMIT}b, ${");
    let error = read(&wrong).unwrap_err();
    assert!(error.contains("p:2:52: error: a fixed window has no field `windw`"), "{error}");
    assert!(error.contains("p:3:21: error: there is no limit `30b`"), "{error}");
    // What cannot be found out is said once, and nothing is said of what it might have been.
    let unset = read(&text.replace("${LIMIT}", "${MISSING}")).unwrap_err();
    assert!(unset.starts_with("p:2:42: error: the environment has no `MISSING`"), "{unset}");
    assert_eq!(unset.lines().count(), 1, "{unset}");
}
