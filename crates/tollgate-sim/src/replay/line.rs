//! Decision lines, as section 9 of the design fixes them.

use std::io::{self, Write};

use tollgate_core::Retry;
use tollgate_policy::{Decision, LimitReport, Ruling, Verdict};

use super::piece::Piece;

/// Writes decisions as JSON lines, in large pieces.
#[derive(Debug)]
pub struct DecisionLines<W> {
    out: W,
    piece: Piece,
    /// What stands before each limit's remaining units, by the limit's place.
    limits: Vec<Prepared>,
}

/// The fixed part of a limit's report.
#[derive(Debug)]
struct Prepared {
    /// `,{"name":"...","remaining":`
    text: Vec<u8>,
    /// The same, where it is short enough, with zeros behind it.
    short: Option<[u8; SHORT]>,
    /// Where the name, a JSON string, ends in it.
    name_end: usize,
}

/// So long are the texts of limits whose names have up to 40 bytes.
const SHORT: usize = 64;

/// What stands before the name.
const NAME: &[u8] = b",{\"name\":";

/// How much is gathered before it is written.
const PIECE: usize = 256 * 1024;

/// A request that was rejected before any limit was asked, up to the names of those that refused.
const REJECTED: &[u8; 70] =
    b",\"decision\":\"refuse\",\"delay_us\":0,\"retry_after_us\":null,\"refused_by\":[";

impl<W: Write> DecisionLines<W> {
    /// Writes to `out`; `names` are those of the policy's limits, in order.
    pub fn new(out: W, names: impl IntoIterator<Item = impl AsRef<str>>) -> DecisionLines<W> {
        let limits = names.into_iter().map(|name| Prepared::new(name.as_ref())).collect();
        DecisionLines { out, piece: Piece::new(PIECE + 4_096), limits }
    }

    /// Writes what came of the request on `line`; `route` is the place of the route that it matched. A request that is
    /// rejected before it is decided (no route under `default: refuse`, an impossible path, a missing identity) is refused
    /// for ever, by no limit.
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
        self.text(b",\"limits\":");
        match ruling {
            Ruling::Decided(decision) if !decision.limits.is_empty() => {
                let start = self.piece.len();
                decision.limits.iter().for_each(|report| self.limit(report));
                // The first comma's place is the list's start.
                self.piece.replace(start, b'[');
            }
            _ => self.text(b"["),
        }
        self.text(b"]}\n");
        if self.piece.len() >= PIECE { self.pass_on() } else { Ok(()) }
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
        self.out.write_all(self.piece.bytes())?;
        self.piece.clear();
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
                for (place, report) in decision.refused_by().enumerate() {
                    if place > 0 {
                        self.text(b",");
                    }
                    self.name(report);
                }
            }
        }
    }

    fn limit(&mut self, report: &LimitReport) {
        match self.limits.get(report.limit) {
            Some(Prepared { short: Some(short), text, .. }) => self.piece.put(short, text.len()),
            Some(known) => self.piece.slice(&known.text),
            None => self.piece.slice(&Prepared::new(&report.name).text),
        }
        self.number(report.standing.remaining);
        self.text(b",\"reset_us\":");
        self.number(report.standing.reset.get());
        if report.shadow {
            self.text(b",\"shadow\":true,\"would_refuse\":");
            match report.refused {
                true => self.text(b"true"),
                false => self.text(b"false"),
            }
        }
        self.text(b"}");
    }

    fn name(&mut self, report: &LimitReport) {
        match self.limits.get(report.limit) {
            Some(known) => self.piece.slice(known.name()),
            None => self.piece.slice(Prepared::new(&report.name).name()),
        }
    }

    #[inline]
    fn number(&mut self, number: u64) {
        self.piece.number(number);
    }

    #[inline]
    fn text<const N: usize>(&mut self, text: &[u8; N]) {
        self.piece.text(text);
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
