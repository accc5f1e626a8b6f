//! The promise of a retry time: with no other traffic, refused one microsecond before it, admitted at it.

use serde_json::Value;

use super::command::replay;
use crate::model::generate::Case;
use crate::model::policy::{Algorithm, Policy};
use crate::model::trace::Request;
use crate::model::yaml::policy_file;

/// So many refusals of a trace are tried.
const TRIED: usize = 2;

/// Holds the command to the retry times that it gave in a case. Tells how many it tried.
pub(crate) fn keeps_promises(case: &Case) -> Result<usize, String> {
    if case.policy.limits.iter().any(|limit| limit.charge_when.is_some()) {
        // What is given back meanwhile is other traffic.
        return Ok(0);
    }
    let decided = replay(&case.policy, &case.requests)?;
    let promises = decided.iter().enumerate().filter_map(|(place, line)| {
        let known = !refused_by_slots(&case.policy, line);
        line["retry_after_us"].as_i64().filter(|wait| *wait > 0 && known).map(|wait| (place, wait))
    });
    let mut tried = 0;
    for (place, wait) in promises.take(TRIED) {
        for (early, verdict) in [(1, "refuse"), (0, "admit or delay")] {
            let again = asked_again(&case.requests[..=place], wait - early);
            let lines = replay(&case.policy, &again)?;
            let last = lines.last().ok_or("no decisions")?;
            if (last["decision"] == "refuse") != (verdict == "refuse") {
                return Err(broken(case, &again, last, verdict));
            }
        }
        tried += 1;
    }
    Ok(tried)
}

/// When a slot frees is not known.
fn refused_by_slots(policy: &Policy, line: &Value) -> bool {
    let slots = policy.limits.iter().filter(|limit| {
        limit
            .classes
            .iter()
            .any(|class| matches!(class.algorithm, Some(Algorithm::Concurrency { .. })))
    });
    let names: Vec<&str> = slots.map(|limit| limit.name.as_str()).collect();
    line["refused_by"]
        .as_array()
        .is_some_and(|by| by.iter().any(|name| names.contains(&name.as_str().unwrap_or(""))))
}

/// The requests, and the last of them once more after a while.
fn asked_again(requests: &[Request], after: i64) -> Vec<Request> {
    let now = requests.iter().map(|request| request.time).max().expect("one request at least");
    let last = requests.last().expect("one request at least").clone();
    let mut again = requests.to_vec();
    again.push(Request { time: now + after, time_as_text: false, ..last });
    again
}

fn broken(case: &Case, requests: &[Request], last: &Value, wanted: &str) -> String {
    let lines: Vec<String> = requests.iter().map(Request::line).collect();
    let policy = policy_file(&case.policy);
    format!(
        "seed {}: {wanted} was promised, not {last}\n{policy}\n{}\n",
        case.seed,
        lines.join("\n")
    )
}
