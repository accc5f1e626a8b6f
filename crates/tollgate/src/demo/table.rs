//! The demo's live table: who passes and who is refused.

use std::sync::Arc;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::customers::{Count, Customer};
use crate::outcome::{Failure, note, print};

/// A table that is redrawn in place on a terminal, and printed line by line elsewhere.
pub(super) struct Table {
    customers: Vec<Arc<Customer>>,
    live: Option<Live>,
}

/// Rows on a terminal.
struct Live {
    together: MultiProgress,
    rows: Vec<ProgressBar>,
}

impl Table {
    /// An empty table of `customers`, with its heading.
    pub(super) fn new(customers: Vec<Arc<Customer>>, terminal: bool) -> Result<Table, Failure> {
        print(&format!("{}\n", heading()))?;
        let live = terminal.then(|| Live::new(customers.len()));
        Ok(Table { customers, live })
    }

    /// Shows the counts of now.
    pub(super) fn show(&self) -> Result<(), Failure> {
        let lines = self.customers.iter().map(|customer| row(customer, customer.tally.count()));
        match &self.live {
            Some(live) => live.rows.iter().zip(lines).for_each(|(row, line)| row.set_message(line)),
            None => print(&lines.map(|line| format!("{line}\n")).collect::<String>())?,
        }
        Ok(())
    }

    /// Says something on a line of its own: above a live table, which stays whole.
    pub(super) fn say(&self, line: &str) -> Result<(), Failure> {
        match &self.live {
            Some(live) => Ok(live.together.println(line)?),
            None => {
                note(&format!("{line}\n"));
                Ok(())
            }
        }
    }

    /// Leaves the last counts standing.
    pub(super) fn finish(self) -> Result<(), Failure> {
        self.show()?;
        let Some(live) = self.live else { return Ok(()) };
        live.rows.iter().for_each(ProgressBar::abandon);
        print("\n")
    }
}

impl Live {
    fn new(count: usize) -> Live {
        // Where it was asked whether there is a terminal.
        let together = MultiProgress::with_draw_target(ProgressDrawTarget::stdout());
        let style =
            ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
        let row = |_| together.add(ProgressBar::new_spinner().with_style(style.clone()));
        let rows = (0..count).map(row).collect();
        Live { together, rows }
    }
}

fn heading() -> String {
    format!(
        "{:<18}{:<12}{:>8}{:>9}{:>9}  told to wait",
        "customer", "plan", "passed", "refused", "failed"
    )
}

fn row(customer: &Customer, count: Count) -> String {
    let Count { passed, refused, failed, retry_after } = count;
    let wait = if retry_after > 0 { format!("{retry_after} s") } else { "-".to_owned() };
    format!("{:<18}{:<12}{passed:>8}{refused:>9}{failed:>9}  {wait}", customer.name, customer.plan)
}

#[cfg(test)]
mod tests {
    use super::super::customers::cast;
    use super::*;

    #[test]
    fn a_row_lines_up_with_the_heading() {
        let customers = cast();
        customers[0].tally.answer(200, None);
        customers[0].tally.answer(429, Some(17));
        customers[0].tally.failure();
        let line = row(&customers[0], customers[0].tally.count());
        assert_eq!(line, "ada, who floods   free               1        1        1  17 s");
        assert_eq!(heading().find("told"), line.find("17 s"));
    }
}
