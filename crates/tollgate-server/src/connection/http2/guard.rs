//! What a client may make of HTTP/2: frames that cost us work and bring it nothing have a budget, and so have streams that
//! are begun and reset (CVE-2023-44487). What is useful fills the budgets again; so does time.

use std::sync::Arc;

use tollgate_policy::settings::GatewaySettings;
use tollgate_store::{Clock, SystemClock};

use super::frames::{Event, Head, Scanner, kind};
use crate::connection::Pace;
use crate::metrics::{Flood, Metrics};

/// The client's preface (RFC 9113, 3.4).
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A request pays for so many control frames around it: windows, priorities, a ping.
const FOR_HEADERS: u64 = 8;

/// A piece of a body, either way, pays for so many: two windows and a ping.
const FOR_DATA: u64 = 4;

/// ENHANCE_YOUR_CALM (RFC 9113, 7).
const CALM: u32 = 11;

/// How many are left. A tenth of them comes back each second.
#[derive(Debug)]
struct Budget {
    most: u64,
    left: u64,
    /// When time last filled it.
    filled: u64,
}

impl Budget {
    fn new(most: usize, now: u64) -> Budget {
        Budget { most: most as u64, left: most as u64, filled: now }
    }

    fn earn(&mut self, count: u64) {
        self.left = self.left.saturating_add(count).min(self.most);
    }

    /// Takes one, unless none is left. The clock is read only then.
    fn spend(&mut self, clock: &SystemClock) -> bool {
        if self.left == 0 {
            let now = clock.now().as_micros();
            let each = 10_000_000 / self.most.max(1);
            let count = now.saturating_sub(self.filled) / each.max(1);
            self.filled += count * each;
            self.earn(count);
        }
        let some = self.left > 0;
        self.left = self.left.saturating_sub(1);
        some
    }
}

/// A watch over the frames of one connection.
#[derive(Debug)]
pub(crate) struct Guard {
    incoming: Scanner,
    outgoing: Scanner,
    control: Budget,
    resets: Budget,
    last_stream: u32,
    flood: Option<Flood>,
    clock: Arc<SystemClock>,
    pace: Arc<Pace>,
    metrics: Arc<Metrics>,
}

impl Guard {
    pub(crate) fn new(
        settings: &GatewaySettings,
        clock: &Arc<SystemClock>,
        pace: &Arc<Pace>,
        metrics: &Arc<Metrics>,
    ) -> Guard {
        let now = clock.now().as_micros();
        Guard {
            incoming: Scanner::new(PREFACE.len()),
            outgoing: Scanner::new(0),
            control: Budget::new(settings.max_control_frames, now),
            resets: Budget::new(settings.max_resets, now),
            last_stream: 0,
            flood: None,
            clock: Arc::clone(clock),
            pace: Arc::clone(pace),
            metrics: Arc::clone(metrics),
        }
    }

    /// Bytes came. Answers what they are too many of.
    pub(crate) fn received(&mut self, bytes: &[u8]) -> Option<Flood> {
        let mut incoming = self.incoming.clone();
        incoming.read(bytes, |event| match event {
            Event::Began(head) => self.began(head),
            Event::Ended(head, _) if head.ends_fields() == Some(true) => self.pace.fields_came(),
            Event::Ended(..) => {}
        });
        self.incoming = incoming;
        self.flood
    }

    fn began(&mut self, head: Head) {
        if head.ends_fields().is_some() {
            self.pace.fields_come();
        }
        match head.kind {
            kind::HEADERS => {
                self.last_stream = self.last_stream.max(head.stream);
                self.control.earn(FOR_HEADERS);
            }
            kind::DATA if head.length > 0 || head.ends_stream() => self.control.earn(FOR_DATA),
            kind::RST_STREAM => self.spend(Flood::Resets),
            _ => self.spend(Flood::ControlFrames),
        }
    }

    fn spend(&mut self, flood: Flood) {
        let budget = match flood {
            Flood::Resets => &mut self.resets,
            Flood::ControlFrames => &mut self.control,
        };
        if !budget.spend(&self.clock) {
            self.flood = Some(flood);
        }
    }

    /// Bytes went out.
    pub(crate) fn sent(&mut self, bytes: &[u8]) {
        let (control, resets, metrics) = (&mut self.control, &mut self.resets, &self.metrics);
        self.outgoing.read(bytes, |event| match event {
            Event::Began(head) => {
                if head.kind == kind::DATA {
                    control.earn(FOR_DATA);
                }
                if head.ends_stream() {
                    resets.earn(1);
                }
            }
            Event::Ended(head, [_, _, _, _, code @ ..]) if head.kind == kind::GOAWAY => {
                metrics.goaway(u32::from_be_bytes(code));
            }
            Event::Ended(..) => {}
        });
    }

    /// The frame that ends the connection of a client that does not keep to its budgets; `None` where another is half
    /// written.
    pub(crate) fn farewell(&self) -> Option<Vec<u8>> {
        self.goaway(CALM)
    }

    /// The frame that ends a connection on which nothing is amiss.
    pub(crate) fn goodbye(&self) -> Option<Vec<u8>> {
        self.goaway(0)
    }

    fn goaway(&self, code: u32) -> Option<Vec<u8>> {
        if !self.outgoing.is_between_frames() {
            return None;
        }
        let mut frame = vec![0, 0, 8, kind::GOAWAY, 0, 0, 0, 0, 0];
        frame.extend(self.last_stream.to_be_bytes());
        frame.extend(code.to_be_bytes());
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::metrics::gauge::Gauge;

    use super::*;
    use crate::connection::pace::Begun;

    fn guard(settings: GatewaySettings) -> Guard {
        let clock = Arc::new(SystemClock::new());
        let begun = Begun::Connected(clock.now());
        let pace = Arc::new(Pace::new(&settings, &clock, begun, &Gauge::default()));
        Guard::new(&settings, &clock, &pace, &Metrics::new(Vec::new))
    }

    fn frame(kind: u8, flags: u8, stream: u8, length: u8) -> Vec<u8> {
        let mut bytes = vec![0, 0, length, kind, flags, 0, 0, 0, stream];
        bytes.resize(9 + usize::from(length), 0);
        bytes
    }

    /// How many of `frame` pass before it is a flood, at most `most`.
    fn passing(guard: &mut Guard, frame: &[u8], most: usize) -> usize {
        (0..most).find(|_| guard.received(frame).is_some()).unwrap_or(most)
    }

    fn begun() -> Guard {
        let settings = GatewaySettings {
            max_control_frames: 50,
            max_resets: 10,
            ..GatewaySettings::default()
        };
        let mut guard = guard(settings);
        assert_eq!(guard.received(PREFACE), None);
        guard
    }

    #[test]
    fn floods_of_what_carries_nothing_end() {
        for frame in [
            frame(6, 0, 0, 8),
            frame(4, 0, 0, 0),
            frame(8, 0, 1, 4),
            frame(2, 0, 1, 5),
            frame(kind::DATA, 0, 1, 0),
            frame(kind::CONTINUATION, 0, 1, 0),
            frame(200, 0, 1, 0),
        ] {
            let mut guard = begun();
            let passed = passing(&mut guard, &frame, 1_000);
            assert!((50..60).contains(&passed), "{passed} of {frame:?}");
            assert_eq!(guard.flood, Some(Flood::ControlFrames));
        }
    }

    #[test]
    fn what_is_useful_pays_for_what_goes_with_it() {
        let mut guard = begun();
        let mut useful = frame(kind::DATA, 0, 1, 100);
        useful.extend(frame(8, 0, 1, 4));
        useful.extend(frame(8, 0, 0, 4));
        assert_eq!(passing(&mut guard, &useful, 1_000), 1_000);
        // A download: windows come in, data goes out.
        for _ in 0..1_000 {
            assert_eq!(guard.received(&frame(8, 0, 1, 4)), None);
            guard.sent(&frame(kind::DATA, 0, 1, 200));
        }
    }

    #[test]
    fn rapid_resets_end_and_lazy_ones_do_not() {
        let mut guard = begun();
        let mut attack = frame(kind::HEADERS, 5, 1, 10);
        attack.extend(frame(kind::RST_STREAM, 0, 1, 4));
        let passed = passing(&mut guard, &attack, 1_000);
        assert!((10..15).contains(&passed), "{passed}");
        assert_eq!(guard.flood, Some(Flood::Resets));
        // A client that lets as many finish as it resets.
        let mut guard = begun();
        for _ in 0..1_000 {
            assert_eq!(guard.received(&attack), None);
            guard.sent(&frame(kind::DATA, 1, 3, 5));
        }
    }

    #[test]
    fn the_farewell_names_the_last_stream_and_never_cuts_a_frame() {
        let mut guard = begun();
        guard.received(&frame(kind::HEADERS, 5, 7, 1));
        let farewell = guard.farewell().expect("nothing is half written");
        assert_eq!(farewell[9..], [0, 0, 0, 7, 0, 0, 0, 11]);
        guard.sent(&frame(kind::DATA, 0, 1, 100)[..20]);
        assert_eq!(guard.farewell(), None);
    }
}
