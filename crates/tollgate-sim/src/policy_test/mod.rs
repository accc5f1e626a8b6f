//! A policy's own tests, as section 10 of the design says: requests on virtual time, and what is expected of each.

mod compare;
mod difference;
mod tally;
#[cfg(test)]
mod tests;

use tollgate_policy::file::{TestCase, TestRequest, TestStep};
use tollgate_policy::{Mode, Policy};
use tollgate_store::StoreError;

pub use difference::{Difference, Mismatch};

use crate::Record;
use crate::replay::Driver;

/// Runs `case` against `policy`, which must have counted nothing yet, in mode enforce whatever the policy says. What
/// differs from what is expected comes in the order of the requests; of equal requests of one step, the first that
/// differs stands for all.
///
/// # Errors
/// [`StoreError`] where the store gives no answer.
pub fn run(policy: Policy, case: &TestCase) -> Result<Vec<Difference>, StoreError> {
    let mut driver = Driver::new(policy, Mode::Enforce, case.start);
    let mut record = Record::default();
    let mut differences = Vec::new();
    for step in &case.steps {
        run_step(&mut driver, &mut record, step, &mut differences)?;
    }
    Ok(differences)
}

fn run_step(
    driver: &mut Driver,
    record: &mut Record,
    step: &TestStep,
    differences: &mut Vec<Difference>,
) -> Result<(), StoreError> {
    let mut tally = tally::Tally::default();
    let mut found: Option<Difference> = None;
    for (number, request) in step.requests().enumerate() {
        fill(record, &request);
        let mut ruling = driver.decide(record)?;
        let route = driver.charges().route;
        tally.note(&ruling);
        if found.is_none() {
            let mismatches = compare::request(&step.expect, &ruling, route);
            found = Difference::at(step, number as u64, record, mismatches);
        }
        let last = number as u64 + 1 == step.repeat;
        if last {
            differences.extend(found.take());
            let mut mismatches = compare::remaining(&step.expect, &ruling);
            mismatches.extend(tally.compare(&step.expect));
            differences.extend(Difference::after(step, mismatches));
        }
        driver.run(&mut ruling, record);
    }
    Ok(())
}

fn fill(record: &mut Record, request: &TestRequest) {
    record.clear();
    record.time = request.time;
    record.peer = request.ip;
    record.cost = request.cost;
    record.status = Some(request.status);
    record.duration = request.duration;
    record.set_method(&request.method);
    request.headers.iter().for_each(|(name, value)| record.add_header(name, value));
    record.set_target(&request.path);
    if let Some(body) = &request.body {
        record.set_body(body);
    }
}
