//! `docs/policy-reference.md` is generated from the JSON Schema, which is generated from what decodes the file. This test
//! holds the page to it; `UPDATE_REFERENCE=1 cargo test -p tollgate-policy reference` writes it anew.

use std::collections::VecDeque;
use std::fmt::Write as _;

use serde_json::Value;
use tollgate_policy::file::json_schema;

const HEAD: &str = "<!-- Generated from the JSON Schema of the policy file: see \
crates/tollgate-policy/tests/policy_file/reference.rs. Do not edit. -->\n\n# The policy file\n\n\
Every field that a policy can have. `tollgate validate` checks a file and says what is wrong and where; `tollgate schema` \
prints the JSON Schema that this page is made of. `${NAME}` within any value is replaced from the environment, \
`${NAME:-value}` says what stands in where it is unset or empty, and `$$` is a `$`.\n\n\
Rates are whole numbers over a unit or a duration: `10/s`, `100/minute`, `5 per 10s`, `7 per 365d`. Durations: `500us`, \
`250ms`, `1m`, `1h30m`, `10d`, `1w`, `1y` (365 days).\n";

#[test]
fn the_reference_is_what_the_schema_says() {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/policy-reference.md");
    let generated = reference(&json_schema());
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = written.lines().zip(generated.lines()).find(|(written, now)| written != now);
    assert!(
        written == generated,
        "docs/policy-reference.md is not what the schema says ({differs:?}): run this test with UPDATE_REFERENCE=1"
    );
}

/// The page: the file's own fields, then each form as it is first met.
fn reference(schema: &Value) -> String {
    let mut page = HEAD.to_owned();
    let mut queue: VecDeque<&Value> = VecDeque::from([schema]);
    let mut seen: Vec<String> = Vec::new();
    while let Some(form) = queue.pop_front() {
        section(form, schema, &mut page);
        for name in references(form) {
            if !seen.contains(&name) {
                queue.push_back(&schema["$defs"][&name]);
                seen.push(name);
            }
        }
    }
    assert_eq!(
        seen.len(),
        schema["$defs"].as_object().unwrap().len(),
        "a form is met from nowhere"
    );
    page
}

/// One form: what it is, and a row for each field.
fn section(form: &Value, root: &Value, page: &mut String) {
    let required: Vec<&str> =
        form["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if form != root {
        let _ = write!(page, "\n## {}\n", title(form));
    }
    let _ = writeln!(page, "\n{}\n", form["description"].as_str().unwrap());
    let fields = form["properties"].as_object().unwrap();
    page.push_str("| field | value | meaning |\n|---|---|---|\n");
    for (name, field) in fields {
        let must = if required.contains(&name.as_str()) { ", **required**" } else { "" };
        let value = value(field, root).replace('|', "\\|");
        let meaning = field["description"].as_str().unwrap();
        let _ = writeln!(page, "| `{name}`{must} | {value} | {meaning} |");
    }
}

/// A form's title without its article.
fn title(form: &Value) -> String {
    let title = form["title"].as_str().unwrap();
    let bare = title.strip_prefix("an ").or(title.strip_prefix("a ")).unwrap_or(title);
    bare.to_owned()
}

/// What a value may be, in words.
fn value(schema: &Value, root: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        let form = root.pointer(name.trim_start_matches('#')).unwrap();
        let anchor = title(form).replace('`', "").replace(' ', "-");
        return format!("[{}](#{anchor})", title(form));
    }
    if let Some(either) = schema["anyOf"].as_array() {
        let mut words: Vec<String> = either.iter().map(|one| value(one, root)).collect();
        // A number may be quoted too: that goes without saying.
        if words.first().is_some_and(|word| word == "whole number") {
            words.retain(|word| word != "text");
        }
        words.retain(|word| word != "nothing");
        return words.join(" or ");
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(word).collect();
        return words.join(", ");
    }
    if !schema["const"].is_null() {
        return word(&schema["const"]);
    }
    match &schema["type"] {
        Value::String(kind) if kind == "array" => {
            format!("list of {}", value(&schema["items"], root))
        }
        Value::String(kind) if kind == "object" => {
            format!("map of names to {}", value(&schema["additionalProperties"], root))
        }
        Value::String(kind) if kind == "integer" => "whole number".to_owned(),
        Value::String(kind) if kind == "boolean" => "`true`, `false`".to_owned(),
        Value::String(kind) if kind == "null" => "nothing".to_owned(),
        _ => example(schema),
    }
}

fn word(word: &Value) -> String {
    match word {
        Value::String(text) => format!("`{text}`"),
        other => format!("`{other}`"),
    }
}

fn example(schema: &Value) -> String {
    let examples = schema["examples"].as_array().into_iter().flatten().take(2);
    let examples: Vec<String> = examples.map(word).collect();
    if examples.is_empty() { "text".to_owned() } else { examples.join(", ") + ", .." }
}

/// The forms that a schema refers to, in the order of its fields.
fn references(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(map) => map
            .iter()
            .filter(|(key, _)| *key != "$defs")
            .flat_map(|(key, value)| match value {
                Value::String(name) if key == "$ref" => {
                    vec![name.trim_start_matches("#/$defs/").to_owned()]
                }
                other => references(other),
            })
            .collect(),
        Value::Array(all) => all.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}
