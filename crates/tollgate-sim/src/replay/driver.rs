//! Drives the production engine by a trace's clock.

use std::sync::Arc;

use tollgate_core::Timestamp;
use tollgate_http::client_address;
use tollgate_policy::{
    Bound, Charges, ClientAddress, Decision, Ends, Facts, Headers, Mode, Policy, Rejection, Ruling,
    Verdict,
};
use tollgate_store::StoreError;

use super::counts::{Conditions, Counting};
use super::pending::Pending;
use crate::Record;

/// So many header fields are looked at without an allocation.
const FEW: usize = 8;

/// The production engine in virtual time. Requests move the clock; answers that arrive by then are settled first.
#[derive(Debug)]
pub struct Driver {
    counting: Counting,
    /// The only policy that a replay ever has.
    bound: Arc<Bound>,
    client_address: ClientAddress,
    charges: Charges,
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
    /// An engine for `policy` that counted nothing yet, counts in memory and forgets nothing. Its time begins at `start`, the
    /// first request's: buckets with `initial: empty` are empty then.
    #[must_use]
    pub fn new(policy: Policy, mode: Mode, start: Timestamp) -> Driver {
        let client_address = policy.client_address().clone();
        Driver::with(Counting::in_memory(policy, mode, start), client_address, start)
    }

    /// The same, for `conditions`. A store must have counted nothing of the policy yet.
    ///
    /// # Errors
    /// Where the system has nothing to wait for a shared store with; never in memory.
    pub fn under(
        policy: Policy,
        conditions: Conditions,
        start: Timestamp,
    ) -> std::io::Result<Driver> {
        let client_address = policy.client_address().clone();
        Ok(Driver::with(Counting::new(policy, conditions, start)?, client_address, start))
    }

    fn with(counting: Counting, client_address: ClientAddress, now: Timestamp) -> Driver {
        let bound = counting.policy();
        let (charges, pending) = (Charges::default(), Pending::default());
        Driver { counting, bound, client_address, charges, now, pending }
    }

    /// The virtual time: the latest that a request named.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The policy in force.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.bound
    }

    /// What the last request was charged for, and its route.
    #[must_use]
    pub fn charges(&self) -> &Charges {
        &self.charges
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
            self.counting.settle(answer.decision, Some(answer.status), at)?;
        }
        let (mut few, many): ([_; FEW], Vec<_>);
        let mut headers = record.headers();
        let pairs = if headers.len() > FEW {
            many = headers.collect();
            &*many
        } else {
            few = [("", ""); FEW];
            let count = headers.len();
            few.iter_mut().zip(&mut headers).for_each(|(place, pair)| *place = pair);
            &few[..count]
        };
        let facts = facts(&self.client_address, record, pairs);
        let hold = Some(record.duration);
        self.counting.decide(&self.bound, &facts, self.now, hold, &mut self.charges)
    }

    /// Lets a request run that was ruled on: its answer arrives after its delay and duration. Without a status none ever
    /// does, and what was charged stays. A ruling that waits for its answer is taken out of its place. Slots need no answer: each ends by the time that it was given.
    pub fn run(&mut self, ruling: &mut Ruling, record: &Record) {
        let Ruling::Decided(decision) = ruling else { return };
        let Some(status) = record.status else { return };
        let delay = match decision.judged {
            Verdict::Admit => 0,
            Verdict::Delay(delay) => delay.get(),
            Verdict::Refuse(_) => return,
        };
        let given_back = decision.taken.iter().any(|held| match &held.ends {
            Ends::ChargeWhen(statuses) => !statuses.contains(&status),
            Ends::Release | Ends::Stays => false,
        });
        if given_back {
            let sent = decision.now.as_micros().saturating_add(delay);
            let moment = sent.saturating_add(record.duration.get());
            // Most rulings need no answer, so only here is one moved.
            let ruling = std::mem::replace(ruling, Ruling::Rejected(Rejection::NoRoute));
            self.wait(moment, ruling, status);
        }
    }

    #[cold]
    fn wait(&mut self, moment: u64, ruling: Ruling, status: u16) {
        if let Ruling::Decided(decision) = ruling {
            self.pending.add(moment, Answer { decision, status });
        }
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
        query: record.query(),
        body: record.body().map(str::as_bytes),
        client: client.address,
        trusted: client.trusted,
        cost: record.cost,
        ..Facts::new(record.method(), record.path(), headers)
    }
}
