//! A value in a JSON document. The document is read to its end, as strictly as RFC 8259 has it: one that two readers could
//! read differently says nothing.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::Pointer;
use super::pointer::{Likeness, Step};
use super::single::Single;

/// The string or whole number of at most 64 bits that `pointer` points at in `document`, a number in decimal digits. Absent
/// where the document is no JSON, and where the value is another or none; several where a name on the way is there twice,
/// or in another case, for readers differ in which of them they take.
pub(super) fn value(document: &[u8], pointer: &Pointer) -> Single<Vec<u8>> {
    let Ok(text) = std::str::from_utf8(document) else { return Single::Absent };
    let mut reader = serde_json::Deserializer::from_str(text);
    let found = Within(&pointer.steps).deserialize(&mut reader);
    match found.and_then(|found| reader.end().map(|()| found)) {
        Ok(found) => found,
        Err(_) => Single::Absent,
    }
}

/// What is left of the way, from the value that is read.
struct Within<'p>(&'p [Step]);

impl Within<'_> {
    fn text(&self, text: &[u8]) -> Single<Vec<u8>> {
        if self.0.is_empty() { Single::One(text.to_vec()) } else { Single::Absent }
    }
}

impl<'de> DeserializeSeed<'de> for Within<'_> {
    type Value = Single<Vec<u8>>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Within<'_> {
    type Value = Single<Vec<u8>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(self.text(text.as_bytes()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(self.text(number.to_string().as_bytes()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(self.text(number.to_string().as_bytes()))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Single::Absent)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Single::Absent)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Single::Absent)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let Some((step, rest)) = self.0.split_first() else {
            while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(Single::Absent);
        };
        let (mut found, mut seen) = (Single::Absent, false);
        while let Some(likeness) = members.next_key_seed(Name(step))? {
            if likeness == Likeness::Same && !seen {
                found = members.next_value_seed(Within(rest))?;
            } else {
                members.next_value::<IgnoredAny>()?;
                if likeness != Likeness::Other {
                    found = Single::Several;
                }
            }
            seen |= likeness != Likeness::Other;
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut found = Single::Absent;
        if let Some((Step { place: Some(place), .. }, rest)) = self.0.split_first() {
            for _ in 0..*place {
                if items.next_element::<IgnoredAny>()?.is_none() {
                    return Ok(found);
                }
            }
            match items.next_element_seed(Within(rest))? {
                Some(item) => found = item,
                None => return Ok(found),
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(found)
    }
}

/// A member's name, compared with a step's.
struct Name<'p>(&'p Step);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Likeness;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Likeness, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Likeness;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Likeness, E> {
        Ok(self.0.likeness(name))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn at(pointer: &str, document: &str) -> Option<String> {
        let pointer = Pointer::parse(pointer).expect("a pointer");
        match value(document.as_bytes(), &pointer) {
            Single::Absent => None,
            Single::Several => Some("several".to_owned()),
            Single::One(text) => Some(String::from_utf8(text).expect("text")),
        }
    }

    /// The examples of RFC 6901, 5, that are strings and whole numbers, and those that are not.
    #[test]
    fn rfc_6901_examples() {
        let document = r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}"#;
        for (pointer, wanted) in [
            ("/foo/0", "bar"),
            ("/", "0"),
            ("/a~1b", "1"),
            ("/c%d", "2"),
            ("/e^f", "3"),
            ("/g|h", "4"),
            ("/i\\j", "5"),
            ("/k\"l", "6"),
            ("/ ", "7"),
            ("/m~0n", "8"),
        ] {
            assert_eq!(at(pointer, document).as_deref(), Some(wanted), "{pointer}");
        }
        for pointer in ["", "/foo", "/foo/2", "/foo/-", "/foo/00", "/foo/0/x", "/nothing"] {
            assert_eq!(at(pointer, document), None, "{pointer}");
        }
    }

    #[test]
    fn strings_and_whole_numbers_are_values() {
        for (document, wanted) in [
            (r#""ada""#, Some("ada")),
            (r#""\u0061d\u0061""#, Some("ada")),
            (" 17\n", Some("17")),
            ("-17", Some("-17")),
            ("18446744073709551615", Some("18446744073709551615")),
            ("18446744073709551616", None),
            ("17.0", None),
            ("1.7e1", None),
            ("-0", None),
            ("true", None),
            ("null", None),
            ("[]", None),
            ("{}", None),
        ] {
            assert_eq!(at("", document).as_deref(), wanted, "{document}");
        }
    }

    #[test]
    fn a_document_that_is_not_whole_says_nothing() {
        for document in [
            "",
            r#"{"user":"ada""#,
            r#"{"user":"ada",}"#,
            r#"{"user":"ada"} x"#,
            r#"{"user":"ada"}{}"#,
            r#"{"user":"ada","x":01}"#,
            r#"{"user":"ada","x":NaN}"#,
            r#"{user:"ada"}"#,
            r#"{'user':'ada'}"#,
            r#"{"user":"ada"/* */}"#,
            "\u{feff}{\"user\":\"ada\"}",
            r#"{"user":"\ud800"}"#,
            "{\"user\":\"a\nb\"}",
        ] {
            assert_eq!(at("/user", document), None, "{document}");
        }
        assert_eq!(
            value(b"{\"user\":\"ada\",\"x\":\"\xff\"}", &Pointer::parse("/user").unwrap()),
            Single::Absent
        );
    }

    #[test]
    fn names_that_are_there_twice_say_nothing() {
        for document in [
            r#"{"user":"ada","user":"bob"}"#,
            r#"{"user":"ada","user":"ada"}"#,
            r#"{"user":"ada","us\u0065r":"bob"}"#,
            r#"{"user":"ada","User":"bob"}"#,
            r#"{"USER":"bob"}"#,
            r#"{"user":{},"user":"ada"}"#,
        ] {
            assert_eq!(at("/user", document).as_deref(), Some("several"), "{document}");
        }
        let twice = r#"{"a":{"user":"ada"},"a":{}}"#;
        assert_eq!(at("/a/user", twice).as_deref(), Some("several"));
        let elsewhere = r#"{"x":1,"x":2,"a":{"y":1,"y":2,"user":"ada"}}"#;
        assert_eq!(at("/a/user", elsewhere).as_deref(), Some("ada"));
    }

    #[test]
    fn nesting_is_bounded_where_it_is_followed() {
        let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(at(&"/0".repeat(100), &deep(100)).as_deref(), Some("1"));
        let beside = format!(r#"{{"x":{},"user":"ada"}}"#, deep(30_000));
        assert_eq!(at("/user", &beside).as_deref(), Some("ada"));
    }

    fn documents() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[ab~/0]{0,2}", inner, 0..4)
                    .prop_map(|members| json!(members)),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_finds_what_a_whole_reader_finds(
            document in documents(),
            steps in prop::collection::vec("[ab~/0]{0,2}", 0..4),
        ) {
            let escaped = |step: &String| format!("/{}", step.replace('~', "~0").replace('/', "~1"));
            let pointer: String = steps.iter().map(escaped).collect();
            let wanted = document.pointer(&pointer).and_then(|found| match found {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) if !number.is_f64() => Some(number.to_string()),
                _ => None,
            });
            prop_assert_eq!(at(&pointer, &document.to_string()), wanted);
        }
    }
}
