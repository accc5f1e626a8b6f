//! The summary as text.

use std::fmt::{self, Write};

use tollgate_core::{Micros, Timestamp};

use super::summary::{Summary, Tally};
use crate::format::to_rfc3339;

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.requests();
        let Some((first, last)) = self.span else {
            writeln!(f, "no requests")?;
            return self.notes(f);
        };
        writeln!(
            f,
            "{} requests from {} to {} ({})",
            grouped(all),
            to_rfc3339(first),
            to_rfc3339(last),
            span(Micros::new(last.as_micros() - first.as_micros()))
        )?;
        writeln!(f, "  admitted  {}", share(self.admitted, all))?;
        if self.delayed > 0 {
            let delayed = share(self.delayed, all);
            writeln!(f, "  delayed   {delayed}  longest {}", span(self.longest_delay))?;
        }
        writeln!(f, "  refused   {}", share(self.refused, all))?;
        if self.rejected > 0 {
            let why = "before any limit: impossible path, missing identity or no route";
            writeln!(f, "  rejected  {}  {why}", share(self.rejected, all))?;
        }
        self.by_limit(f)?;
        self.by_key(f)?;
        self.by_second(f)?;
        self.notes(f)
    }
}

impl Summary {
    fn by_limit(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |tally: &Tally| {
            let class = tally.class.as_ref().map(|class| format!(" ({class})")).unwrap_or_default();
            let shadow = if tally.shadow { ", shadow" } else { "" };
            format!("{}{class}{shadow}", tally.limit)
        };
        let width = self.tallies().iter().map(|tally| name(tally).chars().count()).max();
        let Some(width) = width.map(|width| width.max("limit (class)".len())) else {
            return Ok(());
        };
        writeln!(f, "\n  {:<width$}  {:>15}  {:>15}", "limit (class)", "asked", "refused")?;
        for tally in self.tallies() {
            let refused = share(tally.refused, tally.asked);
            writeln!(f, "  {:<width$}  {:>15}  {refused}", name(tally), grouped(tally.asked))?;
        }
        Ok(())
    }

    fn by_key(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.most_refused.is_empty() {
            return Ok(());
        }
        writeln!(f, "\n  refused most often")?;
        for refused in &self.most_refused {
            // Keys come from requests: nothing in them may move a terminal's cursor.
            let key: String = refused.key.chars().take(80).flat_map(char::escape_debug).collect();
            let about = if refused.over > 0 {
                format!("  (at least {})", grouped(refused.refusals - refused.over))
            } else {
                String::new()
            };
            writeln!(f, "  {:>15}  {}: {key}{about}", grouped(refused.refusals), refused.limit)?;
        }
        Ok(())
    }

    fn by_second(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n  busiest second")?;
        for (what, busiest) in ["asked", "passed", "refused"].into_iter().zip(self.busiest()) {
            if busiest.count > 0 {
                let at = Timestamp::from_micros(busiest.second.saturating_mul(1_000_000));
                writeln!(f, "  {:>15}  {what}, {}", grouped(busiest.count), to_rfc3339(at))?;
            }
        }
        Ok(())
    }

    fn notes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.skipped > 0 {
            writeln!(f, "\n{} bad lines were passed over", grouped(self.skipped))?;
        }
        let mut names = String::new();
        for (name, times) in self.strangers.names() {
            let comma = if names.is_empty() { "" } else { ", " };
            write!(names, "{comma}`{}` ({})", name.escape_debug(), grouped(times))?;
        }
        if self.strangers.others() > 0 {
            write!(names, " and others ({})", grouped(self.strangers.others()))?;
        }
        if names.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nfields that a replay does not know had no influence: {names}")
    }
}

/// A count and its share, in columns.
fn share(part: u64, all: u64) -> String {
    let tenths = (u128::from(part) * 1_000).checked_div(u128::from(all)).unwrap_or(0);
    format!("{:>15}  {:>3}.{} %", grouped(part), tenths / 10, tenths % 10)
}

/// A number with its thousands apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A span in its two largest units, or seconds with their decimals.
fn span(span: Micros) -> String {
    let seconds = span.get() / 1_000_000;
    match seconds {
        86_400.. => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
        3_600.. => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        60.. => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => {
            let micros = format!("{:06}", span.get() % 1_000_000);
            let decimals = micros.trim_end_matches('0');
            let point = if decimals.is_empty() { "" } else { "." };
            format!("{seconds}{point}{decimals} s")
        }
    }
}
