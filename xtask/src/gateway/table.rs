//! The table that is printed.

/// One line of it.
pub(super) struct Line {
    pub(super) what: String,
    /// Ours and the peer's.
    pub(super) values: [f64; 2],
    pub(super) unit: &'static str,
    /// Ours by the peer's, at most; `None`: told for its own sake.
    pub(super) target: Option<f64>,
    /// How it came about.
    pub(super) note: String,
}

impl Line {
    fn ratio(&self) -> f64 {
        self.values[0] / self.values[1]
    }

    /// Whether the target is held; told to the hundredth, so that is what is compared.
    fn holds(&self) -> bool {
        self.target.is_none_or(|most| (self.ratio() * 100.0).round() / 100.0 <= most)
    }

    fn print(&self) {
        let target = self.target.map_or("-".to_owned(), |most| format!("<= {most}"));
        let verdict = match (self.target, self.holds()) {
            (None, _) => "",
            (Some(_), true) => "ok",
            (Some(_), false) => "MISSED",
        };
        println!(
            "| {} | {:.2} {} | {:.2} | {:.2} | {target} | {verdict} | {} |",
            self.what,
            self.values[0],
            self.unit,
            self.values[1],
            self.ratio(),
            self.note
        );
    }
}

/// The table, and how it went.
pub(super) struct Table {
    missed: usize,
    /// Names of rows.
    unmeasured: Vec<String>,
}

impl Table {
    /// Prints the head.
    pub(super) fn begin(peer: &str) -> Table {
        println!("| what | tollgate | {peer} | ratio | target | | how |");
        println!("|---|---|---|---|---|---|---|");
        Table { missed: 0, unmeasured: Vec::new() }
    }

    /// Prints the lines of the row `name`; one that could not be measured does not keep others from it.
    pub(super) fn add(&mut self, name: &str, lines: Result<Vec<Line>, String>) {
        match lines {
            Ok(lines) => {
                lines.iter().for_each(Line::print);
                self.missed += lines.iter().filter(|line| !line.holds()).count();
            }
            Err(error) => {
                println!("| {name} | - | - | - | - | not measured | |");
                eprintln!("{name}: {error}");
                self.unmeasured.push(name.to_owned());
            }
        }
    }

    /// Says how many targets were missed.
    ///
    /// # Errors
    /// Names the rows that could not be measured.
    pub(super) fn end(self) -> Result<(), String> {
        println!("\n{} missed", self.missed);
        if self.unmeasured.is_empty() {
            return Ok(());
        }
        Err(format!("not measured: {}", self.unmeasured.join(", ")))
    }
}
