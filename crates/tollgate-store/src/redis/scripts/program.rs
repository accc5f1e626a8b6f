//! One script for each mix of limits: their fragments, put together.
//!
//! Every script reads all states, decides, then takes what the rules say; nothing is written before all is decided.
//!
//! ```text
//! KEYS[i]      the state of the i-th limit
//! ARGV[1]      <d each: 1, or 0 where another limit has refused already (then only what counts refusals is taken); in a
//!              replay now; where slots are held for a known time that time and the longest delay of limits asked elsewhere;
//!              then the arguments of each limit
//! ARGV[2..]    for how many milliseconds the states of buckets, logs and slots usually last, in decimal; then, where a log or
//!              slots are among the limits, the decision's ticket, 8 bytes
//! reply        <d now; then of each limit one byte, `a` or `r` as it admits or refuses, and its fragment's reply.
//!              With `f`, place (<I2) and state: a bucket written under other parameters; with `p`: a quota's period is not
//!              the one around now. Nothing is changed then.
//! ```

use super::fragment::{Fragment, Variables, spell, under};
use super::part::{Kind, Part};
use crate::shared::lease::GENERATION;

/// All that a script's text depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mix<'p> {
    /// Whether now comes with the call (a replay) and is not the server's.
    pub(crate) virtual_time: bool,
    /// Whether slots are held for a time that is known beforehand.
    pub(crate) hold: bool,
    /// The limits, in their order.
    pub(crate) parts: &'p [Part],
}

/// Up to so many limits, each variable is a local.
const FEW: usize = 8;

/// What the fragments call, where the server has it. Not `string.format`: few calls get to where it is used.
const LIBRARY: [(&str, &str); 8] = [
    ("call(", "local call = redis.call"),
    ("pack(", "local pack = struct.pack"),
    ("unpack(", "local unpack = struct.unpack"),
    ("rep(", "local rep = string.rep"),
    ("sub(", "local sub = string.sub"),
    ("floor(", "local floor = math.floor"),
    ("max(", "local max = math.max"),
    ("min(", "local min = math.min"),
];

impl Mix<'_> {
    /// The script.
    pub(crate) fn text(&self) -> String {
        let mut body = String::new();
        self.moment(&mut body);
        self.functions(&mut body);
        for place in 1..=self.parts.len() {
            self.section("read", place, &mut body);
            self.verdict(place, &mut body);
        }
        for place in 1..=self.parts.len() {
            self.takes(place, &mut body);
        }
        body.push_str(&self.reply());
        let body = self.constants(&body);
        let library: Vec<&str> =
            LIBRARY.iter().filter(|(use_, _)| body.contains(use_)).map(|(_, line)| *line).collect();
        format!("{}\n{body}", library.join("\n"))
    }

    fn variables(&self) -> Variables {
        if self.parts.len() <= FEW { Variables::Locals } else { Variables::Fields }
    }

    /// A line with the variables of the limit at `place`.
    fn spell(&self, line: &str, place: usize) -> String {
        let lasting = self.parts.iter().take(place).filter(|part| part.kind.tells_lasting());
        spell(line, place, 1 + lasting.count(), self.variables())
    }

    fn has(&self, of: impl Fn(&Part) -> bool) -> bool {
        self.parts.iter().any(of)
    }

    /// Whether the decision's ticket is wanted.
    pub(crate) fn wants_ticket(&self) -> bool {
        self.has(|part| matches!(part.kind, Kind::SlidingLog | Kind::Concurrency))
    }

    fn functions(&self, body: &mut String) {
        let mut add = |fragment: Fragment, section| {
            fragment.section(section).for_each(|line| push(line, body));
        };
        for kind in [Kind::SlidingLog, Kind::Concurrency] {
            if self.has(|part| part.kind == kind) {
                add(Fragment::of(kind), "functions");
            }
        }
        if self.has(|part| part.leased) {
            add(Fragment::of(Kind::Bucket), "functions");
        }
        let sliding = |part: &Part| matches!(part.kind, Kind::SlidingWindow | Kind::SlidingCells);
        if self.has(|part| part.wide) {
            add(Fragment::products(), "wide");
        } else if self.has(|part| sliding(part) && part.owing()) {
            add(Fragment::products(), "narrow");
        }
    }

    /// Reads the arguments and the clock.
    fn moment(&self, body: &mut String) {
        let mut names = vec!["admitted".to_owned()];
        names.extend(self.virtual_time.then(|| "now".to_owned()));
        if self.hold {
            names.extend(["hold".to_owned(), "delay".to_owned()]);
        }
        let head = names.len();
        let of_parts: Vec<Vec<String>> =
            (1..=self.parts.len()).map(|place| self.arguments(place)).collect();
        match self.variables() {
            Variables::Locals => {
                names.extend(of_parts.into_iter().flatten());
                push(&format!("local {}", unpacked(&names, 0)), body);
            }
            Variables::Fields => {
                push(&format!("local {}", unpacked(&names, 0)), body);
                push("local v = {}", body);
                let mut before = head;
                for names in of_parts.iter().filter(|names| !names.is_empty()) {
                    push(&unpacked(names, before), body);
                    before += names.len();
                }
            }
        }
        push("admitted = admitted == 1", body);
        if !self.virtual_time {
            push("local time = call('TIME')", body);
            push("local now = time[1] * 1000000 + time[2]", body);
        }
    }

    /// The names of a limit's arguments.
    fn arguments(&self, place: usize) -> Vec<String> {
        let part = &self.parts[place - 1];
        let lines = Fragment::of(part.kind).section("arguments");
        let names =
            lines.filter_map(|line| under(line, part, self)).flat_map(str::split_whitespace);
        names.map(|name| self.spell(name, place)).collect()
    }

    fn section(&self, name: &str, place: usize, body: &mut String) {
        let part = &self.parts[place - 1];
        for line in Fragment::of(part.kind).section(name) {
            if let Some(line) = under(line, part, self) {
                push(&self.spell(line, place), body);
            }
        }
    }

    fn verdict(&self, place: usize, body: &mut String) {
        let part = &self.parts[place - 1];
        if part.shadow {
            return;
        }
        if self.hold && part.waits && self.has(|part| part.kind == Kind::Concurrency) {
            self.section("wait", place, body);
        }
        push(&self.spell("if $refused then admitted = false end", place), body);
    }

    /// Takes what the rules say, or keeps what a wrong clock's state was cut to.
    fn takes(&self, place: usize, body: &mut String) {
        let part = &self.parts[place - 1];
        if part.kind == Kind::Closed || part.looks {
            return;
        }
        let when = match part {
            Part { counts: true, .. } => "true",
            Part { overdraw: true, .. } => "admitted or $refused",
            Part { shadow: true, .. } => "admitted and not $refused",
            _ => "admitted",
        };
        push(&self.spell(&format!("if {when} then"), place), body);
        self.section("take", place, body);
        push("end", body);
        push(&self.spell("if $clamped then", place), body);
        self.section("keep", place, body);
        push("end", body);
    }

    fn reply(&self) -> String {
        let mut reply = "return pack('<d', now)".to_owned();
        for place in 1..=self.parts.len() {
            let piece = " .. ($refused and 'r' or 'a') .. $raw";
            reply.push_str(&self.spell(piece, place));
        }
        reply.push('\n');
        reply
    }

    /// Puts in what is constant for this mix.
    fn constants(&self, body: &str) -> String {
        // Expiry is by milliseconds, of a clock that the server may have read a little earlier.
        let lasting = self.parts.iter().filter(|part| part.kind.tells_lasting());
        let spare = if self.virtual_time { "3600002" } else { "2" };
        let mut body = body
            .replace("SPARE", spare)
            .replace("GENERATION", &GENERATION.get().to_string())
            .replace("TICKET", &format!("ARGV[{}]", 2 + lasting.count()));
        for size in [16, 20, 24] {
            let nothing = format!("'{}'", "\\0".repeat(size));
            body = body.replace(&format!("NOTHING_{size}"), &nothing);
        }
        body
    }
}

fn unpacked(names: &[String], before: usize) -> String {
    let format = "d".repeat(names.len());
    let start = if before == 0 { String::new() } else { format!(", {}", 8 * before + 1) };
    format!("{} = unpack('<{format}', ARGV[1]{start})", names.join(", "))
}

fn push(line: &str, body: &mut String) {
    if !line.is_empty() {
        body.push_str(line);
        body.push('\n');
    }
}
