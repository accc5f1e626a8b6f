//! What a server's error means for a call.

use redis::ServerError;

use crate::Trouble;
use crate::redis::Endpoint;

/// What to do about a call that a server refused. All but `Trouble` say that it was not executed and may be sent again.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The server does not know the script (`NOSCRIPT`).
    UnknownScript,
    /// The slot lives elsewhere for good (`MOVED`).
    Moved(Elsewhere),
    /// The slot is on its way, and the key is there already or new (`ASK`).
    Ask(Elsewhere),
    /// The slot is on its way, with some of the keys here and some there (`TRYAGAIN`).
    Later,
    /// The call failed.
    Trouble(Trouble),
}

/// Where a cluster's node sends a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Elsewhere {
    pub(super) slot: u16,
    /// The host; `None` where the node says no name, which means its own.
    pub(super) host: Option<Box<str>>,
    pub(super) port: u16,
}

impl Elsewhere {
    /// From `3999 127.0.0.1:6381`.
    fn parse(detail: &str) -> Option<Elsewhere> {
        let mut words = detail.split_ascii_whitespace();
        let slot = words.next()?.parse().ok()?;
        // IPv6 addresses come without brackets, so the last colon is the one before the port.
        let (host, port) = words.next()?.rsplit_once(':')?;
        let host = (!host.is_empty() && host != "?").then(|| host.into());
        Some(Elsewhere { slot, host, port: port.parse().ok()? })
    }

    /// The place itself, as `from` sees it.
    pub(super) fn endpoint(&self, from: &Endpoint) -> Option<Endpoint> {
        match (&self.host, from) {
            (Some(host), _) | (None, Endpoint::Tcp { host, .. }) => {
                Some(Endpoint::Tcp { host: host.clone(), port: self.port })
            }
            (None, Endpoint::Unix(_)) => None,
        }
    }
}

impl Refusal {
    pub(super) fn of(error: &ServerError) -> Refusal {
        let detail = error.details().unwrap_or_default();
        let elsewhere = |then: fn(Elsewhere) -> Refusal| {
            Elsewhere::parse(detail).map_or(Refusal::Trouble(Trouble::Unexpected), then)
        };
        match error.code() {
            "NOSCRIPT" => Refusal::UnknownScript,
            "MOVED" => elsewhere(Refusal::Moved),
            "ASK" => elsewhere(Refusal::Ask),
            "TRYAGAIN" => Refusal::Later,
            code => Refusal::Trouble(trouble(code).unwrap_or_else(|| inner_trouble(detail))),
        }
    }
}

fn trouble(code: &str) -> Option<Trouble> {
    Some(match code {
        "LOADING" => Trouble::Loading,
        "READONLY" | "MASTERDOWN" => Trouble::ReadOnly,
        "OOM" => Trouble::Full,
        "MISCONF" | "NOREPLICAS" => Trouble::NotSaving,
        "CLUSTERDOWN" => Trouble::ClusterDown,
        "BUSY" => Trouble::Busy,
        "NOAUTH" | "WRONGPASS" | "NOPERM" => Trouble::Denied,
        _ => return None,
    })
}

/// Servers before version 7 wrap what a command said within a script: `ERR Error running script (call to f_..): -OOM ..`.
fn inner_trouble(detail: &str) -> Trouble {
    detail
        .split_ascii_whitespace()
        .filter_map(|word| word.strip_prefix('-'))
        .find_map(trouble)
        .unwrap_or(Trouble::Unexpected)
}

#[cfg(test)]
mod tests {
    use redis::{Value, parse_redis_value};

    use super::*;

    fn refusal(line: &str) -> Refusal {
        match parse_redis_value(format!("-{line}\r\n").as_bytes()).expect("an error line") {
            Value::ServerError(error) => Refusal::of(&error),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_error_of_a_server_has_its_kind() {
        let trouble = Refusal::Trouble;
        for (line, expected) in [
            ("NOSCRIPT No matching script. Please use EVAL.", Refusal::UnknownScript),
            ("TRYAGAIN Multiple keys request during rehashing of slot", Refusal::Later),
            ("LOADING Redis is loading the dataset in memory", trouble(Trouble::Loading)),
            ("READONLY You can't write against a read only replica.", trouble(Trouble::ReadOnly)),
            ("OOM command not allowed when used memory > 'maxmemory'.", trouble(Trouble::Full)),
            ("MASTERDOWN Link with MASTER is down", trouble(Trouble::ReadOnly)),
            ("MISCONF Redis is configured to save RDB snapshots", trouble(Trouble::NotSaving)),
            ("NOREPLICAS Not enough good replicas to write.", trouble(Trouble::NotSaving)),
            ("CLUSTERDOWN The cluster is down", trouble(Trouble::ClusterDown)),
            ("BUSY Redis is busy running a script.", trouble(Trouble::Busy)),
            ("NOAUTH Authentication required.", trouble(Trouble::Denied)),
            ("WRONGPASS invalid username-password pair", trouble(Trouble::Denied)),
            ("NOPERM User x has no permissions", trouble(Trouble::Denied)),
            ("CROSSSLOT Keys in request don't hash to the same slot", trouble(Trouble::Unexpected)),
            ("MOVED nonsense", trouble(Trouble::Unexpected)),
            (
                "ERR Error running script (call to f_6b1): @user_script:1: @user_script: 1: -OOM command",
                trouble(Trouble::Full),
            ),
            ("ERR unknown command", trouble(Trouble::Unexpected)),
        ] {
            assert_eq!(refusal(line), expected, "{line}");
        }
    }

    #[test]
    fn redirects_name_a_slot_and_a_place() {
        let place = |line| match refusal(line) {
            Refusal::Moved(elsewhere) | Refusal::Ask(elsewhere) => elsewhere,
            other => panic!("{other:?}"),
        };
        let there = place("MOVED 3999 127.0.0.1:6381");
        assert_eq!(
            (there.slot, there.host.as_deref(), there.port),
            (3999, Some("127.0.0.1"), 6381)
        );
        let there = place("ASK 1 fe80::1:6381");
        assert_eq!((there.slot, there.host.as_deref(), there.port), (1, Some("fe80::1"), 6381));
        let there = place("MOVED 7 :6381");
        let from = Endpoint::Tcp { host: "here".into(), port: 1 };
        assert_eq!(there.endpoint(&from), Some(Endpoint::Tcp { host: "here".into(), port: 6381 }));
    }
}
