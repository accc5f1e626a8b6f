//! What an engine makes of the words of a store that does not always ask.

use tollgate_core::{Outcome, Standing, Timestamp};
use tollgate_store::{
    Call, Charge, ChargeOutcome, Definition, LimitId, Receipt, Source, Store, StoreError,
    StoreOutcome, Taken, Trouble,
};

use super::*;

/// A store that says of each limit, in order, whether it refuses and whose word that is; nothing at all is `Unavailable`.
struct Scripted(Vec<(bool, Source)>);

impl Store for Scripted {
    fn define(&self, definitions: &[Definition], _: Timestamp) -> Vec<LimitId> {
        (0..).map(LimitId).take(definitions.len()).collect()
    }

    async fn charge_all(&self, call: &Call<'_>) -> Result<StoreOutcome, StoreError> {
        if self.0.is_empty() {
            return Err(StoreError::Unavailable(Trouble::TimedOut));
        }
        let limits: smallvec::SmallVec<[ChargeOutcome; 4]> = self
            .0
            .iter()
            .map(|(refused, source)| {
                let standing = Standing { remaining: 3, ..Standing::default() };
                let outcome = Outcome { refused: *refused, standing, ..Outcome::default() };
                ChargeOutcome { outcome, source: *source }
            })
            .collect();
        assert_eq!(limits.len(), call.charges.len());
        let decision = tollgate_core::Decision {
            admitted: limits.iter().all(|said| !said.outcome.refused),
            delay: Micros::ZERO,
            retry: seconds(1),
        };
        Ok(StoreOutcome { decision, limits, receipt: Receipt::default(), now: call.now })
    }

    async fn settle(&self, _: Taken, _: u64, _: Timestamp) -> Result<(), StoreError> {
        Err(StoreError::Unavailable(Trouble::TimedOut))
    }

    async fn release(&self, _: Taken, _: Timestamp) -> Result<(), StoreError> {
        Err(StoreError::Unavailable(Trouble::TimedOut))
    }

    async fn peek(&self, _: &Charge<'_>, _: Timestamp) -> Result<Standing, StoreError> {
        Err(StoreError::Unavailable(Trouble::TimedOut))
    }

    async fn reset(&self, _: LimitId, _: &[u8]) -> Result<(), StoreError> {
        Err(StoreError::Unavailable(Trouble::TimedOut))
    }
}

/// The decision on a request under three limits, which go on, allow and refuse while the store is away.
fn decided(said: [(bool, Source); 3]) -> crate::Decision {
    let yaml = "
limits:
  user: { key: [ip], sliding_window: { limit: 5, window: 1m } }
  tenant: { key: [ip], sliding_window: { limit: 5, window: 1m }, on_store_failure: allow }
  all: { key: [], sliding_window: { limit: 5, window: 1m }, on_store_failure: refuse }
routes:
  - { limits: [user, tenant, all] }
";
    let engine = Engine::new(policy(yaml), Scripted(said.to_vec()), Mode::Enforce, at(0));
    let ruling = get().facts(|facts| at_once(engine.decide(facts, at(0), None)));
    match ruling.expect("it answers") {
        Ruling::Decided(decision) => decision,
        Ruling::Rejected(rejection) => panic!("{rejection:?}"),
    }
}

fn told(decision: &crate::Decision) -> Vec<(String, Source, bool)> {
    let told =
        |report: &crate::LimitReport| (report.name.to_string(), report.source, report.unavailable);
    decision.limits.iter().map(told).collect()
}

#[test]
fn a_limit_that_was_not_asked_is_not_reported() {
    let decision =
        decided([(true, Source::Lease), (false, Source::Unasked), (false, Source::Unasked)]);
    assert!(matches!(decision.verdict, Verdict::Refuse(_)));
    assert_eq!(told(&decision), [("user".to_owned(), Source::Lease, false)]);
    let decision =
        decided([(false, Source::Unasked), (false, Source::Unasked), (true, Source::Node)]);
    assert_eq!(told(&decision), [("all".to_owned(), Source::Node, false)]);
    assert_eq!(decision.refused_by().count(), 1);
}

#[test]
fn whose_word_it_is_is_told_with_each() {
    let all = [(false, Source::Store), (false, Source::Estimate), (false, Source::Share)];
    let decision = decided(all);
    assert_eq!(decision.verdict, Verdict::Admit);
    let sources: Vec<_> = decision.limits.iter().map(|report| report.source).collect();
    assert_eq!(sources, [Source::Store, Source::Estimate, Source::Share]);
    assert!(decision.limits.iter().all(|report| !report.unavailable));
}

/// While the store is away a share is still a count; `allow` and `refuse` are none.
#[test]
fn of_a_store_that_is_away_a_share_is_known_and_nothing_else() {
    let decision = decided([(false, Source::Failure); 3]);
    let unavailable: Vec<_> = decision.limits.iter().map(|report| report.unavailable).collect();
    assert_eq!(unavailable, [false, true, true]);
    assert!(!decision.refused_unasked());
    let decision =
        decided([(false, Source::Failure), (false, Source::Failure), (true, Source::Failure)]);
    assert!(decision.refused_unasked());
}

#[test]
fn a_store_without_an_answer_is_an_error_to_the_door() {
    let one = one_limit("{ key: [ip], charge_when: { status: 401 }, token_bucket: { rate: 1/s } }");
    let engine = Engine::new(policy(&one), Scripted(Vec::new()), Mode::Enforce, at(0));
    let ruling = get().facts(|facts| at_once(engine.decide(facts, at(0), None)));
    assert_eq!(ruling.unwrap_err(), StoreError::Unavailable(Trouble::TimedOut));
}
