//! Traces: the model decides as they grow, so that requests can aim at what it said.

use super::Random;
use super::requests::request;
use super::times::{LATEST, Recent, beginning, next, spans};
use crate::model::policy::Policy;
use crate::model::rules::Replay;
use crate::model::trace::{Request, Verdict};

/// A trace for a policy.
pub(crate) fn trace(policy: &Policy, random: &mut Random) -> Vec<Request> {
    let length = random.within(20, 140) as usize;
    let spans = spans(policy);
    let mut replay = Replay::new(policy);
    let mut recent = Recent { now: beginning(random), ends: Vec::new(), last: None };
    let mut requests: Vec<Request> = Vec::new();
    let mut aimed: Vec<Request> = Vec::new();
    while requests.len() < length {
        let request = match (aimed.pop(), requests.last()) {
            (Some(request), _) => request,
            (None, Some(last)) if random.chance(45) => {
                // Again the same, so that one key is asked often.
                Request { time: next(&recent, &spans, random), ..last.clone() }
            }
            _ => {
                let asked = request(policy, recent.last.as_ref(), &spans, random);
                Request { time: next(&recent, &spans, random), ..asked }
            }
        };
        let decision = replay.next(&request);
        let now = recent.now.max(request.time);
        if let Verdict::Refuse { retry_after: Some(wait @ 1..), .. } = decision.verdict
            && now + wait <= LATEST
            && aimed.is_empty()
            && random.chance(35)
        {
            // Last in, first out: one microsecond before it may come again, and then.
            aimed.push(Request { time: now + wait, ..request.clone() });
            aimed.push(Request { time: now + wait - 1, ..request.clone() });
        }
        recent.note(&request, decision);
        requests.push(request);
    }
    requests
}
