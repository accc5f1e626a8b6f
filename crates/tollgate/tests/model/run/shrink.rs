//! Makes a trace that differs as short as dropping lines can.

use super::compare::{Difference, difference};
use crate::model::policy::Policy;
use crate::model::trace::Request;

/// Drops all after the difference, then halves, quarters and so on of what is before it, as long as the sides differ.
pub(crate) fn shortest(
    policy: &Policy,
    requests: &[Request],
    first: Difference,
) -> (Vec<Request>, Difference) {
    let mut kept = requests[..first.line.min(requests.len())].to_vec();
    let mut found = first;
    let mut piece = kept.len() / 2;
    while piece > 0 {
        let mut from = 0;
        while from + piece < kept.len() {
            let without: Vec<Request> = [&kept[..from], &kept[from + piece..]].concat();
            if let Some(still) = difference(policy, &without) {
                kept = without[..still.line.min(without.len())].to_vec();
                found = still;
            } else {
                from += piece;
            }
        }
        piece /= 2;
    }
    (kept, found)
}
