//! Decision lines, as section 9 of the design fixes them.

use std::io::{self, Write};

use tollgate_core::Retry;
use tollgate_policy::{Decision, LimitReport, Ruling, Verdict};

/// Writes decisions as JSON lines, in large pieces.
#[derive(Debug)]
pub struct DecisionLines<W> {
    out: W,
    buffer: Vec<u8>,
    /// Each limit's name as a JSON string, by the limit's place.
    names: Vec<Vec<u8>>,
}

/// How much is gathered before it is written.
const PIECE: usize = 256 * 1024;

/// A request that was rejected before any limit was asked, up to the names of those that refused.
const REJECTED: &[u8] =
    b",\"decision\":\"refuse\",\"delay_us\":0,\"retry_after_us\":null,\"refused_by\":[";

impl<W: Write> DecisionLines<W> {
    /// Writes to `out`; `names` are those of the policy's limits, in order.
    pub fn new(out: W, names: impl IntoIterator<Item = impl AsRef<str>>) -> DecisionLines<W> {
        let names = names.into_iter().map(|name| quoted(name.as_ref())).collect();
        DecisionLines { out, buffer: Vec::with_capacity(PIECE + 4_096), names }
    }

    /// Writes what came of the request on `line`; `route` is the place of the route that it matched. A request that is rejected before it is decided (no route under
    /// `default: refuse`, an impossible path, a missing identity) is refused for ever, by no limit.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&mut self, line: u64, route: Option<usize>, ruling: &Ruling) -> io::Result<()> {
        self.text(b"{\"line\":");
        self.number(line);
        match ruling {
            Ruling::Decided(decision) => self.decision(decision),
            Ruling::Rejected(_) => self.text(REJECTED),
        }
        self.text(b"],\"route\":");
        match route {
            Some(route) => self.number(route as u64),
            None => self.text(b"null"),
        }
        self.text(b",\"limits\":[");
        if let Ruling::Decided(decision) = ruling {
            self.list(decision.limits.iter(), DecisionLines::limit);
        }
        self.text(b"]}\n");
        if self.buffer.len() >= PIECE { self.pass_on() } else { Ok(()) }
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
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn decision(&mut self, decision: &Decision) {
        match decision.judged {
            Verdict::Admit => self.text(
                b",\"decision\":\"admit\",\"delay_us\":0,\"retry_after_us\":0,\"refused_by\":[",
            ),
            Verdict::Delay(delay) => {
                self.text(b",\"decision\":\"delay\",\"delay_us\":");
                self.number(delay.get());
                self.text(b",\"retry_after_us\":0,\"refused_by\":[");
            }
            Verdict::Refuse(retry) => {
                self.text(b",\"decision\":\"refuse\",\"delay_us\":0,\"retry_after_us\":");
                match retry {
                    Retry::After(wait) => self.number(wait.get()),
                    Retry::Never => self.text(b"null"),
                }
                self.text(b",\"refused_by\":[");
                self.list(decision.refused_by(), |lines, report| lines.name(report));
            }
        }
    }

    fn limit(&mut self, report: &LimitReport) {
        self.text(b"{\"name\":");
        self.name(report);
        self.text(b",\"remaining\":");
        self.number(report.standing.remaining);
        self.text(b",\"reset_us\":");
        self.number(report.standing.reset.get());
        if report.shadow {
            self.text(b",\"shadow\":true,\"would_refuse\":");
            self.text(if report.refused { b"true" } else { b"false" });
        }
        self.text(b"}");
    }

    fn list<'a>(
        &mut self,
        reports: impl Iterator<Item = &'a LimitReport>,
        mut item: impl FnMut(&mut DecisionLines<W>, &LimitReport),
    ) {
        for (place, report) in reports.enumerate() {
            if place > 0 {
                self.text(b",");
            }
            item(self, report);
        }
    }

    fn name(&mut self, report: &LimitReport) {
        match self.names.get(report.limit) {
            Some(name) => self.buffer.extend_from_slice(name),
            None => self.buffer.extend_from_slice(&quoted(&report.name)),
        }
    }

    fn number(&mut self, number: u64) {
        self.text(itoa::Buffer::new().format(number).as_bytes());
    }

    fn text(&mut self, text: &[u8]) {
        self.buffer.extend_from_slice(text);
    }
}

/// `text` as a JSON string.
fn quoted(text: &str) -> Vec<u8> {
    serde_json::Value::from(text).to_string().into_bytes()
}
