//! Decision lines, as section 9 of the design fixes them.

use std::io::{self, Write};

use tollgate_core::Retry;
use tollgate_policy::{Decision, LimitReport, Ruling, Verdict};

use super::text::Text;

/// Writes decisions as JSON lines, in large pieces.
#[derive(Debug)]
pub struct DecisionLines<W> {
    out: W,
    text: Text,
    /// What stands before each limit's remaining units, by the limit's place.
    limits: Vec<Prepared>,
}

/// The fixed part of a limit's report.
#[derive(Debug)]
struct Prepared {
    /// `},{"name":"...","remaining":`
    text: Vec<u8>,
    /// The same, where it is short enough, with zeros behind it.
    short: Option<[u8; SHORT]>,
    /// Where the name, a JSON string, ends in it.
    name_end: usize,
}

/// So long are the texts of limits whose names have up to 39 bytes.
const SHORT: usize = 64;

/// What stands before a limit's name: also the end of the limit before it.
const NAME: &[u8] = b"},{\"name\":";

/// How much is gathered before it is written.
const PIECE: usize = 256 * 1024;

impl<W: Write> DecisionLines<W> {
    /// Writes to `out`; `names` are those of the policy's limits, in order.
    pub fn new(out: W, names: impl IntoIterator<Item = impl AsRef<str>>) -> DecisionLines<W> {
        let limits = names.into_iter().map(|name| Prepared::new(name.as_ref())).collect();
        DecisionLines { out, text: Text::new(PIECE + 4_096), limits }
    }

    /// Writes what came of the request on `line`; `route` is the place of the route that it matched. A request that is
    /// rejected before it is decided (no route under `default: refuse`, an impossible path, a missing identity) is refused
    /// for ever, by no limit.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&mut self, line: u64, route: Option<usize>, ruling: &Ruling) -> io::Result<()> {
        let text = &mut self.text;
        text.put(b"{\"line\":");
        text.number(line);
        let limits = match ruling {
            Ruling::Decided(decision) => {
                verdict(text, &self.limits, decision);
                &*decision.limits
            }
            Ruling::Rejected(_) => {
                text.put(b",\"decision\":\"refuse\",\"delay_us\":0,\"retry_after_us\":null,\"refused_by\":[],\"route\":");
                &[]
            }
        };
        match route {
            Some(route) => text.number(route as u64),
            None => text.put(b"null"),
        }
        text.put(b",\"limits\"");
        let start = text.bytes().len();
        for report in limits {
            limit(text, &self.limits, report);
        }
        if limits.is_empty() {
            text.put(b":[]}\n");
        } else {
            // There is no limit before the first, which the list's start takes the place of.
            text.replace(start, b":[");
            text.put(b"}]}\n");
        }
        if text.bytes().len() >= PIECE { self.pass_on() } else { Ok(()) }
    }

    /// Writes what is gathered, and sees it through.
    ///
    /// # Errors
    /// What the writer says.
    pub fn finish(mut self) -> io::Result<W> {
        self.pass_on()?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn pass_on(&mut self) -> io::Result<()> {
        self.out.write_all(self.text.bytes())?;
        self.text.clear();
        Ok(())
    }
}

/// Puts what was decided and by whom, up to the route.
#[inline]
fn verdict(text: &mut Text, limits: &[Prepared], decision: &Decision) {
    match decision.judged {
        Verdict::Admit => text.put(
            b",\"decision\":\"admit\",\"delay_us\":0,\"retry_after_us\":0,\"refused_by\":[],\"route\":",
        ),
        Verdict::Delay(delay) => {
            text.put(b",\"decision\":\"delay\",\"delay_us\":");
            text.number(delay.get());
            text.put(b",\"retry_after_us\":0,\"refused_by\":[],\"route\":");
        }
        Verdict::Refuse(retry) => {
            text.put(b",\"decision\":\"refuse\",\"delay_us\":0,\"retry_after_us\":");
            match retry {
                Retry::After(wait) => text.number(wait.get()),
                Retry::Never => text.put(b"null"),
            }
            text.put(b",\"refused_by\":[");
            for (place, report) in decision.refused_by().enumerate() {
                if place > 0 {
                    text.put(b",");
                }
                match limits.get(report.limit) {
                    Some(known) => text.put(known.name()),
                    None => text.put(Prepared::new(&report.name).name()),
                }
            }
            text.put(b"],\"route\":");
        }
    }
}

/// Puts how a limit stands; the next text ends it.
#[inline]
fn limit(text: &mut Text, limits: &[Prepared], report: &LimitReport) {
    match limits.get(report.limit) {
        Some(Prepared { short: Some(short), text: whole, .. }) => {
            text.put_first(short, whole.len())
        }
        Some(known) => text.put(&known.text),
        None => text.put(&Prepared::new(&report.name).text),
    }
    text.number(report.standing.remaining);
    text.put(b",\"reset_us\":");
    text.number(report.standing.reset.get());
    if report.shadow {
        text.put(match report.refused {
            true => &b",\"shadow\":true,\"would_refuse\":true"[..],
            false => b",\"shadow\":true,\"would_refuse\":false",
        });
    }
}

impl Prepared {
    fn new(name: &str) -> Prepared {
        let mut text = NAME.to_vec();
        text.extend_from_slice(serde_json::Value::from(name).to_string().as_bytes());
        let name_end = text.len();
        text.extend_from_slice(b",\"remaining\":");
        let mut short = [0; SHORT];
        let fits = short.get_mut(..text.len()).map(|start| start.copy_from_slice(&text));
        Prepared { short: fits.map(|()| short), text, name_end }
    }

    fn name(&self) -> &[u8] {
        &self.text[NAME.len()..self.name_end]
    }
}
