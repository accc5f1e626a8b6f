//! Fragments of Lua: a file for each kind of state, with a section for each place of a script.
//!
//! `--@ name` begins a section. A line that ends in `--? rule` is there only under that rule, and `--? !rule` only without it;
//! several must all hold. `$name` is the limit's own variable, `$i` its place in `KEYS`, `$t` that of its lasting time in `ARGV`.

use super::part::{Kind, Part};
use super::program::Mix;

/// How a limit's variables are spelt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variables {
    /// Locals, of which Lua has at most 200.
    Locals,
    /// Fields of the table `v`.
    Fields,
}

/// A fragment, as the file has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragment(&'static str);

impl Fragment {
    /// The fragment of a kind.
    pub(super) fn of(kind: Kind) -> Fragment {
        Fragment(match kind {
            Kind::Closed => include_str!("lua/closed.lua"),
            Kind::Bucket => include_str!("lua/bucket.lua"),
            Kind::FixedWindow => include_str!("lua/fixed_window.lua"),
            Kind::Quota => include_str!("lua/quota.lua"),
            Kind::SlidingWindow => include_str!("lua/sliding_window.lua"),
            Kind::SlidingCells => include_str!("lua/sliding_cells.lua"),
            Kind::SlidingLog => include_str!("lua/sliding_log.lua"),
            Kind::Concurrency => include_str!("lua/concurrency.lua"),
        })
    }

    /// Arithmetic for windows.
    pub(super) fn products() -> Fragment {
        Fragment(include_str!("lua/products.lua"))
    }

    /// The lines of a section, without comments.
    pub(super) fn section(self, name: &str) -> impl Iterator<Item = &'static str> {
        let begins = move |line: &&str| line.strip_prefix("--@ ") != Some(name);
        let lines = self.0.lines().skip_while(begins).skip(1);
        lines.take_while(|line| !line.starts_with("--@")).filter(|line| {
            let code = line.trim_start();
            !code.is_empty() && !code.starts_with("-- ")
        })
    }
}

/// A line under the rules of `part`; `None` where they leave it out.
pub(super) fn under<'l>(line: &'l str, part: &Part, mix: &Mix<'_>) -> Option<&'l str> {
    let Some((code, rules)) = line.split_once(" --? ") else { return Some(line) };
    let holds = |rule: &str| match rule {
        "overdraw" => part.overdraw,
        "owing" => part.owing(),
        "wide" => part.wide,
        "bounded" => part.bounded,
        "empty" => part.empty,
        "leased" => part.leased,
        "hold" => mix.hold,
        "replay" => mix.virtual_time,
        _ => false,
    };
    let all = rules.split(' ').all(|rule| match rule.strip_prefix('!') {
        Some(rule) => !holds(rule),
        None => holds(rule),
    });
    all.then_some(code)
}

/// A line with the variables of the limit at `place`, counted from 1, whose lasting time is `ARGV[lasting]`.
pub(super) fn spell(line: &str, place: usize, lasting: usize, variables: Variables) -> String {
    let code = line.trim_start();
    let line = match (variables, code.strip_prefix("local $")) {
        // A field needs no declaration.
        (Variables::Fields, Some(_)) if !code.contains('=') => return String::new(),
        (Variables::Fields, Some(_)) => code.trim_start_matches("local "),
        _ => line,
    };
    let mut pieces = line.split('$');
    let mut spelt = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(piece.len());
        let (name, rest) = piece.split_at(end);
        match (name, variables) {
            ("i", _) => spelt.push_str(&place.to_string()),
            ("t", _) => spelt.push_str(&lasting.to_string()),
            (_, Variables::Locals) => spelt.push_str(&format!("{name}{place}")),
            (_, Variables::Fields) => spelt.push_str(&format!("v.{name}{place}")),
        }
        spelt.push_str(rest);
    }
    spelt
}
