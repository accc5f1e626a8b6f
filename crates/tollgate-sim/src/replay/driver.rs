//! Drives the production engine by a trace's clock.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use smallvec::SmallVec;
use tollgate_core::Timestamp;
use tollgate_http::client_address;
use tollgate_policy::{ClientAddress, Decision, Engine, Facts, Headers, Ruling, Verdict};
use tollgate_store::{MemoryStore, StoreError};

use super::pending::Pending;
use crate::Record;

/// An engine in virtual time. Requests move the clock; answers that arrive by then are settled first.
#[derive(Debug)]
pub struct Driver {
    engine: Engine<MemoryStore>,
    client_address: ClientAddress,
    now: Timestamp,
    pending: Pending<Answer>,
}

/// A request's answer, still to come.
#[derive(Debug)]
struct Answer {
    decision: Decision,
    status: u16,
}

impl Driver {
    /// Drives `engine`, whose policy finds the client's address by `client_address`, from `start` on.
    #[must_use]
    pub fn new(
        engine: Engine<MemoryStore>,
        client_address: ClientAddress,
        start: Timestamp,
    ) -> Driver {
        Driver { engine, client_address, now: start, pending: Pending::default() }
    }

    /// The virtual time: the latest that a request named.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Decides `record` at its time; an earlier time than the latest is read as the latest. Answers that arrive by then,
    /// also in the same microsecond, are settled before, in the order of their arrival and then of their requests.
    ///
    /// # Errors
    /// [`StoreError`] where the store gives no answer.
    pub fn decide(&mut self, record: &Record) -> Result<Ruling, StoreError> {
        self.now = self.now.max(record.time);
        while let Some((moment, answer)) = self.pending.take(self.now.as_micros()) {
            let at = Timestamp::from_micros(moment);
            at_once(self.engine.settle(answer.decision, Some(answer.status), at))?;
        }
        let pairs: SmallVec<[(&str, &str); 16]> = record.headers().collect();
        let facts = facts(&self.client_address, record, &pairs);
        at_once(self.engine.decide(&facts, self.now, Some(record.duration)))
    }

    /// Lets an admitted request run: its answer arrives after its delay and duration. Without a status none ever does, and
    /// what was charged stays. Slots need no answer: each ends by the time that it was given.
    pub fn run(&mut self, decision: Decision, record: &Record) {
        let delay = match decision.judged {
            Verdict::Admit => 0,
            Verdict::Delay(delay) => delay.get(),
            Verdict::Refuse(_) => return,
        };
        let Some(status) = record.status.filter(|_| !decision.taken.is_empty()) else { return };
        let moment =
            decision.now.as_micros().saturating_add(delay).saturating_add(record.duration.get());
        self.pending.add(moment, Answer { decision, status });
    }
}

fn facts<'a>(
    settings: &ClientAddress,
    record: &'a Record,
    pairs: &'a [(&'a str, &'a str)],
) -> Facts<'a> {
    let headers = Headers::Pairs(pairs);
    let client = client_address::resolve(settings, record.peer, headers);
    Facts {
        method: record.method(),
        host: pairs.iter().find(|(name, _)| *name == "host").map(|(_, host)| *host),
        path: record.path(),
        query: record.query(),
        headers,
        body: record.body().map(str::as_bytes),
        client: client.address,
        trusted: client.trusted,
        cost: record.cost,
    }
}

/// The memory store never waits, so what it promises is there at the first asking.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        std::thread::yield_now();
    }
}
