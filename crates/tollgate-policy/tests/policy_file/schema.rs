//! The JSON Schema takes what the reader takes, and refuses what has an unknown field.

use serde_json::{Value, json};
use tollgate_policy::file::json_schema;

/// Whether `value` fits `schema`: the keywords that the policy's schema uses, but for patterns; another is a panic.
fn fits(schema: &Value, value: &Value, root: &Value) -> bool {
    schema.as_object().expect("a schema is an object").iter().all(|(keyword, said)| {
        match keyword.as_str() {
            "$ref" => {
                let pointer = said.as_str().unwrap().trim_start_matches('#');
                fits(root.pointer(pointer).expect("a reference leads somewhere"), value, root)
            }
            "type" => match said {
                Value::String(kind) => is(kind, value),
                kinds => {
                    kinds.as_array().unwrap().iter().any(|kind| is(kind.as_str().unwrap(), value))
                }
            },
            "anyOf" => said.as_array().unwrap().iter().any(|one| fits(one, value, root)),
            "enum" => said.as_array().unwrap().contains(value),
            "const" => said == value,
            "minimum" => value.as_u64().is_none_or(|number| number >= said.as_u64().unwrap()),
            "maximum" => value.as_u64().is_none_or(|number| number <= said.as_u64().unwrap()),
            "items" => {
                value.as_array().is_none_or(|all| all.iter().all(|one| fits(said, one, root)))
            }
            "minItems" => {
                let least = said.as_u64().unwrap();
                value.as_array().is_none_or(|all| all.len() as u64 >= least)
            }
            "required" => value.as_object().is_none_or(|map| {
                said.as_array().unwrap().iter().all(|key| map.contains_key(key.as_str().unwrap()))
            }),
            "properties" => value.as_object().is_none_or(|map| {
                let known = said.as_object().unwrap();
                map.iter()
                    .all(|(key, value)| known.get(key).is_none_or(|one| fits(one, value, root)))
            }),
            "additionalProperties" => value.as_object().is_none_or(|map| {
                let known = schema.get("properties").and_then(Value::as_object);
                let mut others = map
                    .iter()
                    .filter(|(key, _)| known.is_none_or(|known| !known.contains_key(*key)));
                match said {
                    Value::Bool(allowed) => *allowed || others.next().is_none(),
                    one => others.all(|(_, value)| fits(one, value, root)),
                }
            }),
            "$schema" | "$defs" | "title" | "description" | "examples" | "pattern" => true,
            other => panic!("the schema has a keyword that this test does not know: {other}"),
        }
    })
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("no type {other}"),
    }
}

fn accepts(policy: &str) -> bool {
    let schema = json_schema();
    let value: Value = serde_saphyr::from_str(policy).unwrap();
    fits(&schema, &value, &schema)
}

#[test]
fn the_schema_takes_the_examples() {
    let mut seen = 0;
    for entry in std::fs::read_dir(super::examples::folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            assert!(accepts(&std::fs::read_to_string(&path).unwrap()), "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen >= 5);
}

#[test]
fn the_schema_takes_every_way_to_say_it() {
    for policy in [
        "routes: []",
        "routes: [{ limits: a, cost: { header: x, max: 5, from: anyone } }]",
        "routes: [{ limits: [], match: { path: [/a, /b] } }, { limits: [], match: [/a, /b] }, { limits: [], match: /a }]",
        "routes: [{ limits: [], cost: 2, match: { method: GET, host: [a], headers: { x: } } }]",
        "identity: { a: ip, b: [ip, { query: x }], c: { sources: [{ path: 1 }], default: 5 } }\nroutes: []",
        "limits: { a: { key: ip, quota: unlimited } }\nroutes: []",
        "limits: { a: { key: [], token_bucket: { rate: 1/s, burst: 2s } } }\nroutes: []",
        "limits: { a: { key: [], by: p, leaky_bucket: { x: { rate: 1/s, max_wait: unlimited }, y: unlimited } } }\nroutes: []",
        "tables: { a: [{ x: 1 }], b: { file: f.csv }, c: { rows: [] } }\nroutes: []",
        "store: { url: redis://h, secret: { env: S }, budget: 5ms, tls: { ca: a.pem } }\nroutes: []",
        "store: { urls: [redis://a, redis://b], sentinel: { master: m, password: p } }\nroutes: []",
        "store: memory\nlimits: { a: { key: ip, quota: unlimited, sync: leased, on_store_failure: allow } }\nroutes: []",
        "limits: { a: { key: ip, quota: unlimited, sync: { estimate: { every: 1s } } } }\nroutes: []",
        "limits: { a: { key: ip, quota: unlimited, sync: \"estimate {every: 1s}\" } }\nroutes: []",
        "access_log: { to: stdout, fields: [time], sample: { admitted: 0.5, refused: 1% } }\ntrace_context: leave\nrequest_id: true\ngateway: { max_connections_per_address: unlimited }\nroutes: []",
        "access_log: { to: a.log, format: \"{time}\", secret: { env: S } }\nroutes: []",
        "headers: none\nretry_jitter: 20\ngateway: { max_body_bytes: unlimited }\nroutes: []",
        "routes: []\ntests: [{ name: a, requests: [{ time: 1.5, repeat: 3, expect: { route: } }] }]",
    ] {
        assert!(accepts(policy), "{policy}");
    }
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    for policy in [
        "limits: {}",
        "routes: [{}]",
        "routes: []\nrotues: []",
        "routes: [{ limits: [], upstraem: a }]",
        "limits: { a: { quota: { limit: 5, every: day } } }\nroutes: []",
        "mode: shadowy\nroutes: []",
        "store: redis\nroutes: []",
        "store: { uri: redis://h }\nroutes: []",
        "limits: { a: { key: ip, quota: unlimited, sync: { leased: {} } } }\nroutes: []",
        "listen: [a]\nroutes: []",
    ] {
        assert!(!accepts(policy), "{policy}");
        assert!(super::read(policy).is_err(), "{policy}");
    }
}

#[test]
fn every_field_is_described() {
    let schema = json_schema();
    assert_eq!(schema["title"], json!("Tollgate policy"));
    let forms = schema["$defs"].as_object().unwrap().values().chain([&schema]);
    for form in forms {
        for (name, field) in form["properties"].as_object().unwrap() {
            assert!(field["description"].as_str().is_some_and(|text| text.len() > 3), "{name}");
        }
    }
}
