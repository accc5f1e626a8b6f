//! How a connection keeps time: it may be slow to begin, slow to go on, or slow to take what it asked for; each has its
//! limit. One timer watches over all of them and is set back only where a limit came nearer, so a quick request never
//! touches it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::task::{Poll, ready};
use std::time::Duration;

use prometheus_client::metrics::gauge::Gauge;
use tollgate_core::Timestamp;
use tollgate_policy::settings::GatewaySettings;
use tollgate_store::{Clock, SystemClock};

use super::http2::Taking;
use crate::alarm::Alarm;

/// A header is being waited for: since the connection began, or its first byte came.
const HEADER: u8 = 0;
/// A request is being answered; bodies keep their own time.
const BUSY: u8 = 1;
/// Nothing has come since the last answer.
const IDLE: u8 = 2;

/// How long nothing has come when a connection gives up its buffers. One that is busy looks so often whether it still is.
const AT_REST: u64 = 1_000_000;

/// Most headers come in one piece of fewer bytes, in which no line end is looked for.
const SHORT: usize = 1024;

/// What a connection is doing, and since when.
#[derive(Debug)]
pub(crate) struct Pace {
    clock: Arc<SystemClock>,
    header: u64,
    idle: u64,
    body: u64,
    phase: AtomicU8,
    since: AtomicU64,
    /// Since when the client has not taken what was written; 0 where it has.
    blocked: AtomicU64,
    begun: AtomicBool,
    /// The first line of the header that is waited for is there.
    line: AtomicBool,
    unread: AtomicBool,
    /// The last answer was handed to the system whole.
    answered: AtomicBool,
    /// HTTP/2: requests go side by side.
    multiplexed: AtomicBool,
    /// How many turns there are, and over all connections.
    turns: AtomicUsize,
    all_turns: Gauge,
    /// Since when the fields of a request come over HTTP/2; 0 where none are half through.
    fields: AtomicU64,
    /// The silence, by its begin, in which the connection could not be laid down.
    restless: AtomicU64,
    /// What comes after the present request is not to be served.
    last: AtomicBool,
}

/// How far a connection has come when its time is kept from here on, and since when.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begun {
    /// It was accepted, and nothing came.
    Connected(Timestamp),
    /// It had an answer, and nothing came after.
    Idle(Timestamp),
}

/// What a silence has become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Silence {
    /// The client is too slow.
    TooLong,
    /// It may be a long one.
    Rest,
}

/// A request's turn on its connection; when it is dropped the connection waits for the next.
#[derive(Debug)]
pub(crate) struct Turn {
    pace: Arc<Pace>,
    /// Over HTTP/2, how its client takes the answer.
    taking: Option<Arc<Taking>>,
}

impl Turn {
    /// Its request has a stream of its own.
    pub(crate) fn is_of_a_stream(&self) -> bool {
        self.taking.is_some()
    }

    /// A piece of the answer was handed out.
    pub(crate) fn offer(&self) {
        if let Some(taking) = &self.taking {
            taking.offer();
        }
    }

    /// The next piece of the answer is asked for.
    pub(crate) fn ask(&self) {
        if let Some(taking) = &self.taking {
            taking.ask();
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.pace.all_turns.dec();
        if self.pace.turns.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.pace.enter(IDLE);
        }
    }
}

impl Pace {
    /// Its turns count in `all_turns`, too.
    pub(super) fn new(
        settings: &GatewaySettings,
        clock: &Arc<SystemClock>,
        begun: Begun,
        all_turns: &Gauge,
    ) -> Pace {
        let (phase, since) = match begun {
            Begun::Connected(since) => (HEADER, since),
            Begun::Idle(since) => (IDLE, since),
        };
        Pace {
            clock: Arc::clone(clock),
            header: settings.header_timeout.get(),
            idle: settings.idle_timeout.get(),
            body: settings.body_timeout.get(),
            phase: AtomicU8::new(phase),
            since: AtomicU64::new(since.as_micros()),
            blocked: AtomicU64::new(0),
            begun: AtomicBool::new(false),
            line: AtomicBool::new(false),
            unread: AtomicBool::new(false),
            answered: AtomicBool::new(true),
            multiplexed: AtomicBool::new(false),
            turns: AtomicUsize::new(0),
            all_turns: all_turns.clone(),
            fields: AtomicU64::new(0),
            restless: AtomicU64::new(0),
            last: AtomicBool::new(false),
        }
    }

    /// Since when it does what it does.
    pub(super) fn since(&self) -> Timestamp {
        Timestamp::from_micros(self.since.load(Ordering::Relaxed))
    }

    /// HTTP/2 is spoken: requests go side by side, and the time of each body is its stream's own.
    pub(super) fn multiplex(&self) {
        self.multiplexed.store(true, Ordering::Relaxed);
        self.enter(IDLE);
    }

    /// Over HTTP/2, a part of a request's fields came.
    pub(super) fn fields_come(&self) {
        if self.fields.load(Ordering::Relaxed) == 0 {
            self.fields.store(self.clock.now().as_micros().max(1), Ordering::Relaxed);
        }
    }

    /// Over HTTP/2, all of a request's fields came.
    pub(super) fn fields_came(&self) {
        self.fields.store(0, Ordering::Relaxed);
    }

    /// Nothing is asked, nothing is half through.
    pub(super) fn is_idle(&self) -> bool {
        self.phase.load(Ordering::Relaxed) == IDLE
            && self.blocked.load(Ordering::Relaxed) == 0
            && self.fields.load(Ordering::Relaxed) == 0
    }

    /// The longest silence within a body.
    pub(super) fn longest_silence(&self) -> Duration {
        Duration::from_micros(self.body)
    }

    /// A request's header is whole; `body`: one follows.
    pub(crate) fn begin(self: &Arc<Pace>, body: bool) -> Turn {
        let multiplexed = self.multiplexed.load(Ordering::Relaxed);
        // A stream that is left unread is reset; the connection goes on.
        self.unread.store(body && !multiplexed, Ordering::Relaxed);
        self.phase.store(BUSY, Ordering::Relaxed);
        self.begun.store(false, Ordering::Relaxed);
        self.line.store(false, Ordering::Relaxed);
        self.answered.store(false, Ordering::Relaxed);
        self.all_turns.inc();
        self.turns.fetch_add(1, Ordering::Relaxed);
        let taking = if multiplexed { Taking::of_this_task() } else { None };
        Turn { pace: Arc::clone(self), taking }
    }

    /// Bytes came.
    pub(super) fn heard(&self) {
        if self.multiplexed.load(Ordering::Relaxed) {
            return;
        }
        match self.phase.load(Ordering::Relaxed) {
            // The rest of a body whose answer went out early.
            IDLE if self.may_be_unread() => return self.enter(IDLE),
            IDLE => self.enter(HEADER),
            BUSY => return,
            _ => {}
        }
        self.begun.store(true, Ordering::Relaxed);
    }

    /// Looks whether `bytes`, which just came, end the first line of a header: so it is known what a header is too large for.
    pub(super) fn look_for_a_line(&self, bytes: &[u8]) {
        let header = self.phase.load(Ordering::Relaxed) == HEADER;
        if header && !self.line.load(Ordering::Relaxed) {
            // What is short is not what a header becomes too large by.
            let line = bytes.len() < SHORT || bytes.contains(&b'\n');
            self.line.store(line, Ordering::Relaxed);
        }
    }

    /// The first line of the header that is waited for is there.
    pub(super) fn has_a_line(&self) -> bool {
        self.line.load(Ordering::Relaxed)
    }

    /// The moment by the clock that it keeps time by.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The client took (`true`) or did not take what was written.
    pub(super) fn took(&self, taken: bool) {
        if taken {
            if self.blocked.load(Ordering::Relaxed) != 0 {
                self.blocked.store(0, Ordering::Relaxed);
            }
        } else if self.blocked.load(Ordering::Relaxed) == 0 {
            self.blocked.store(self.clock.now().as_micros(), Ordering::Relaxed);
        }
    }

    /// All that was written so far has gone out.
    pub(super) fn flushed(&self) {
        if self.phase.load(Ordering::Relaxed) != BUSY {
            self.answered.store(true, Ordering::Relaxed);
        }
    }

    /// What is written now is not half of an answer whose rest may fail with the connection: it is whole, or of a stream.
    pub(super) fn has_whole_answers(&self) -> bool {
        self.phase.load(Ordering::Relaxed) != BUSY || self.multiplexed.load(Ordering::Relaxed)
    }

    /// Every request that was begun has had its whole answer: what is written now answers none.
    pub(super) fn is_between_answers(&self) -> bool {
        self.phase.load(Ordering::Relaxed) != BUSY
            && self.answered.load(Ordering::Relaxed)
            && !self.multiplexed.load(Ordering::Relaxed)
    }

    /// A body ended in trailers. hyper ends their lines at CR LF and reads them as ending at LF, too: a request that somebody
    /// before us sees behind such a line is swallowed with it. So this one is the last of its connection.
    pub(crate) fn saw_trailers(&self) {
        if !self.multiplexed.load(Ordering::Relaxed) {
            self.last.store(true, Ordering::Relaxed);
        }
    }

    /// No more requests are to be served.
    pub(super) fn serves_its_last(&self) -> bool {
        self.last.load(Ordering::Relaxed)
    }

    /// The last request's body was read to its end.
    pub(crate) fn read_to_the_end(&self) {
        self.unread.store(false, Ordering::Relaxed);
    }

    /// Bytes came that nobody will read.
    pub(super) fn left_unread(&self) {
        self.unread.store(true, Ordering::Relaxed);
    }

    /// The last request had a body, which may not have been read to its end when its answer went out: the connection has
    /// to be closed softly, lest the client lose the answer to a reset.
    pub(super) fn may_be_unread(&self) -> bool {
        self.unread.load(Ordering::Relaxed)
    }

    /// Nothing has come yet.
    pub(super) fn is_new(&self) -> bool {
        self.phase.load(Ordering::Relaxed) == HEADER && !self.begun.load(Ordering::Relaxed)
    }

    /// A header began to come and nothing is half written, so an answer would be understood.
    pub(super) fn owes_an_answer(&self) -> bool {
        self.phase.load(Ordering::Relaxed) == HEADER
            && self.begun.load(Ordering::Relaxed)
            && self.blocked.load(Ordering::Relaxed) == 0
    }

    fn enter(&self, phase: u8) {
        self.since.store(self.clock.now().as_micros(), Ordering::Relaxed);
        self.phase.store(phase, Ordering::Relaxed);
    }

    /// The moment after which the client is too slow.
    fn deadline(&self) -> Option<u64> {
        let blocked = self.blocked.load(Ordering::Relaxed);
        if blocked != 0 {
            return Some(blocked.saturating_add(self.body));
        }
        let fields = self.fields.load(Ordering::Relaxed);
        if fields != 0 {
            return Some(fields.saturating_add(self.header));
        }
        let since = self.since.load(Ordering::Relaxed);
        match self.phase.load(Ordering::Relaxed) {
            HEADER => Some(since.saturating_add(self.header)),
            IDLE => Some(since.saturating_add(self.idle)),
            _ => None,
        }
    }

    /// The moment at which there is something to do about a silence: in one after an answer it comes before the deadline.
    fn limit(&self) -> Option<u64> {
        let deadline = self.deadline()?;
        if !self.is_idle() || self.multiplexed.load(Ordering::Relaxed) {
            return Some(deadline);
        }
        let since = self.since.load(Ordering::Relaxed);
        let awake = self.restless.load(Ordering::Relaxed) == since;
        Some(if awake { deadline } else { deadline.min(since.saturating_add(AT_REST)) })
    }

    /// Ends when the client is too slow. It has to be polled whenever the connection was.
    pub(super) async fn overdue(&self) {
        self.silence(|| false).await;
    }

    /// Ends when the client is too slow, or silent for so long after an answer that its connection may be laid down, where
    /// `can_rest` says that it can. It has to be polled whenever the connection was.
    pub(super) async fn silence(&self, can_rest: impl Fn() -> bool) -> Silence {
        let mut alarm = Alarm::default();
        std::future::poll_fn(|cx| {
            loop {
                let Some(limit) = self.limit() else { return Poll::Pending };
                ready!(alarm.poll(limit, &self.clock, cx));
                let now = self.clock.now().as_micros();
                if self.deadline().is_some_and(|deadline| deadline <= now) {
                    return Poll::Ready(Silence::TooLong);
                }
                if can_rest() {
                    return Poll::Ready(Silence::Rest);
                }
                self.restless.store(self.since.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use tollgate_core::Micros;

    use super::*;

    fn pace(header: u64, idle: u64, body: u64) -> Arc<Pace> {
        let settings = GatewaySettings {
            header_timeout: Micros::new(header),
            idle_timeout: Micros::new(idle),
            body_timeout: Micros::new(body),
            ..crate::gateway::tests::settings()
        };
        let clock = Arc::new(SystemClock::new());
        let begun = Begun::Connected(clock.now());
        Arc::new(Pace::new(&settings, &clock, begun, &Gauge::default()))
    }

    #[test]
    fn each_phase_has_its_limit() {
        let pace = pace(10, 2_000, 300_000);
        let started = pace.since.load(Ordering::Relaxed);
        assert_eq!(pace.deadline(), Some(started + 10));
        assert!(!pace.owes_an_answer(), "nothing came yet");
        pace.heard();
        assert!(pace.owes_an_answer());
        let turn = pace.begin(false);
        assert_eq!(pace.deadline(), None);
        drop(turn);
        let idle = pace.since.load(Ordering::Relaxed);
        assert_eq!(pace.deadline(), Some(idle + 2_000));
        pace.heard();
        let header = pace.since.load(Ordering::Relaxed);
        assert_eq!(pace.deadline(), Some(header + 10));
        pace.took(false);
        let blocked = pace.blocked.load(Ordering::Relaxed);
        assert_eq!(pace.deadline(), Some(blocked + 300_000));
        pace.took(true);
        assert_eq!(pace.deadline(), Some(header + 10));
    }

    #[test]
    fn the_rest_of_a_body_after_its_answer_is_no_header() {
        let pace = pace(10, 2_000, 300_000);
        drop(pace.begin(true));
        pace.heard();
        let idle = pace.since.load(Ordering::Relaxed);
        assert!(!pace.owes_an_answer(), "no request is being sent");
        assert_eq!(pace.deadline(), Some(idle + 2_000));
        pace.read_to_the_end();
        pace.heard();
        assert!(pace.owes_an_answer());
    }

    #[test]
    fn an_answer_ends_when_it_has_gone_out() {
        let pace = pace(10, 20, 30);
        assert!(pace.is_between_answers(), "nothing was asked");
        let turn = pace.begin(false);
        pace.flushed();
        assert!(!pace.is_between_answers(), "a part of it may be out, or a 100 before it");
        drop(turn);
        assert!(!pace.is_between_answers(), "it may wait to be written");
        pace.flushed();
        assert!(pace.is_between_answers());
    }

    #[test]
    fn bytes_of_a_slow_header_do_not_lengthen_it() {
        let pace = pace(10, 20, 30);
        let deadline = pace.deadline();
        pace.heard();
        pace.heard();
        assert_eq!(pace.deadline(), deadline);
    }
}
