//! The reply of `CLUSTER SLOTS`.

use std::io;

use redis::Value;

use super::slot::SLOTS;
use crate::redis::Endpoint;

/// Slots that a node holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) first: u16,
    pub(super) last: u16,
    pub(super) primary: Endpoint,
}

/// Reads the map that the server at `from` told.
pub(super) fn read_ranges(reply: Value, from: &Endpoint) -> io::Result<Vec<Range>> {
    let wrong = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    match reply {
        Value::Array(ranges) => ranges
            .iter()
            .map(|range| read_range(range, from))
            .collect::<Option<Vec<Range>>>()
            .ok_or_else(|| wrong("a map of slots that cannot be read".to_owned())),
        Value::ServerError(error) => {
            Err(wrong(format!("{} {}", error.code(), error.details().unwrap_or_default())))
        }
        _ => Err(wrong("no map of slots".to_owned())),
    }
}

/// First slot, last slot, the primary's [host, port, ..], the replicas'.
fn read_range(range: &Value, from: &Endpoint) -> Option<Range> {
    let parts = range.as_sequence()?;
    let number = |value: &Value| match value {
        Value::Int(number) => u16::try_from(*number).ok(),
        _ => None,
    };
    let (first, last) = (number(parts.first()?)?, number(parts.get(1)?)?);
    let [host, port, ..] = parts.get(2)?.as_sequence()? else { return None };
    let host = match (host, from) {
        (Value::BulkString(host), _) if !matches!(&**host, b"" | b"?") => {
            String::from_utf8(host.clone()).ok()?.into()
        }
        // It does not know its own name: it is where we asked.
        (_, Endpoint::Tcp { host, .. }) => host.clone(),
        (_, Endpoint::Unix(_)) => return None,
    };
    let primary = Endpoint::Tcp { host, port: number(port)? };
    (first <= last && last < SLOTS).then_some(Range { first, last, primary })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use redis::parse_redis_value;

    use super::*;

    fn ranges(reply: &str) -> io::Result<Vec<Range>> {
        let value = parse_redis_value(reply.as_bytes()).expect("a reply");
        read_ranges(value, &Endpoint::Tcp { host: "seed".into(), port: 1 })
    }

    #[test]
    fn a_map_names_the_primary_of_each_range() {
        let node = "*3\r\n$9\r\n127.0.0.1\r\n:7001\r\n$2\r\nid\r\n";
        let unnamed = "*2\r\n$-1\r\n:7002\r\n";
        let reply = format!("*2\r\n*4\r\n:0\r\n:9\r\n{node}{node}*3\r\n:10\r\n:16383\r\n{unnamed}");
        let range = |first, last, host: &str, port| Range {
            first,
            last,
            primary: Endpoint::Tcp { host: host.into(), port },
        };
        assert_eq!(
            ranges(&reply).expect("a map"),
            [range(0, 9, "127.0.0.1", 7001), range(10, 16_383, "seed", 7002)]
        );
    }

    #[test]
    fn what_is_no_map_is_refused() {
        for reply in [
            "+OK\r\n",
            "-ERR This instance has cluster support disabled\r\n",
            "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\na\r\n:1\r\n",
            "*1\r\n*3\r\n:9\r\n:1\r\n*2\r\n$1\r\na\r\n:1\r\n",
            "*1\r\n*2\r\n:0\r\n:1\r\n",
            "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\na\r\n:70000\r\n",
        ] {
            assert!(ranges(reply).is_err(), "{reply:?}");
        }
    }

    /// What a server could say, of the kinds that a map is made of.
    fn anything() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Nil),
            Just(Value::Okay),
            any::<i64>().prop_map(Value::Int),
            (0_i64..20_000).prop_map(Value::Int),
            prop::collection::vec(any::<u8>(), 0..12).prop_map(Value::BulkString),
        ];
        leaf.prop_recursive(4, 64, 6, |inner| {
            prop::collection::vec(inner, 0..6).prop_map(Value::Array)
        })
    }

    proptest! {
        #[test]
        fn whatever_a_server_says_is_a_map_of_real_slots_or_an_error(reply in anything()) {
            let from = Endpoint::Unix(std::path::Path::new("socket").into());
            for range in read_ranges(reply, &from).unwrap_or_default() {
                prop_assert!(range.first <= range.last && range.last < SLOTS);
            }
        }
    }
}
