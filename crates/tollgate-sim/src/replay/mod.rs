//! Replay of recorded requests in virtual time, as section 9 of the design says.

mod counts;
mod driver;
mod line;
mod peaks;
mod pending;
mod report;
mod summary;
mod text;
mod top;

use std::io::Write;

use tollgate_core::Timestamp;
use tollgate_policy::Policy;

pub use counts::{Conditions, Counts};
pub use driver::Driver;
pub use line::DecisionLines;
pub use peaks::Busiest;
pub use summary::{RefusedKey, Summary, Tally};

use crate::ReplayError;
use crate::input::Merge;

/// How many requests are decided between two looks at the progress.
const STRIDE: u64 = 16_384;

/// Decides `requests` by `policy` under `conditions`, from the first one's time on, and writes a line for each to `decisions`. `progress` is
/// called now and then.
///
/// # Errors
/// [`ReplayError`]; what was decided before is written all the same.
pub fn replay(
    policy: Policy,
    conditions: Conditions,
    requests: &mut Merge,
    decisions: Option<&mut dyn Write>,
    progress: &mut dyn FnMut(),
) -> Result<Summary, ReplayError> {
    let names: Vec<_> = policy.settings().limits.iter().map(|limit| limit.name.clone()).collect();
    let mut lines = decisions.map(|out| DecisionLines::new(out, names));
    let mut summary = Summary::default();
    let decided = decide_all(policy, conditions, requests, lines.as_mut(), &mut summary, progress);
    let written = lines.map_or(Ok(()), |lines| lines.finish().map(|_| ()));
    decided?;
    written.map_err(ReplayError::Write)?;
    summary.skipped = requests.skipped();
    summary.strangers = requests.strangers();
    Ok(summary)
}

fn decide_all(
    policy: Policy,
    conditions: Conditions,
    requests: &mut Merge,
    mut lines: Option<&mut DecisionLines<&mut dyn Write>>,
    summary: &mut Summary,
    progress: &mut dyn FnMut(),
) -> Result<(), ReplayError> {
    let mut more = requests.advance()?;
    let start = requests.current().map_or(Timestamp::EPOCH, |(record, _)| record.time);
    let mut driver = Driver::under(policy, conditions, start).map_err(ReplayError::System)?;
    let mut until_progress = STRIDE;
    while more {
        let Some((record, line)) = requests.current() else { break };
        // A ruling is large: it is looked at where it is, and not moved.
        match driver.decide(record) {
            Ok(ref mut ruling) => {
                summary.note(driver.now(), driver.charges(), ruling);
                if let Some(lines) = &mut lines {
                    lines
                        .write(line, driver.charges().route, ruling)
                        .map_err(ReplayError::Write)?;
                }
                driver.run(ruling, record);
            }
            Err(error) => return Err(error.into()),
        }
        until_progress -= 1;
        if until_progress == 0 {
            progress();
            until_progress = STRIDE;
        }
        more = requests.advance()?;
    }
    summary.name(driver.policy());
    Ok(())
}
