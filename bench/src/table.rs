//! The table that is printed.

/// What was measured of one row.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The row.
    pub name: String,
    /// Ours and the peer's, in `unit`.
    pub ours: f64,
    /// The peer's; the ratio is ours by it, unless the target is absolute.
    pub peer: f64,
    /// What is measured.
    pub unit: &'static str,
    /// What is to be held.
    pub target: Target,
    /// Other programs left hardly a moment of it alone, so that it says nothing.
    pub disturbed: bool,
}

/// What is to be held.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// Ours / peer at most.
    Ratio(f64),
    /// Ours at most, in the row's unit.
    Absolute(f64),
    /// Told for its own sake.
    None,
}

impl Measured {
    /// Whether the target is held.
    pub fn holds(&self) -> bool {
        match self.target {
            Target::Ratio(most) => self.ours / self.peer <= most,
            Target::Absolute(most) => self.ours <= most,
            Target::None => true,
        }
    }
}

/// The head of the table.
pub fn print_head() {
    println!("| what | ours | peer | ratio | target | |");
    println!("|---|---|---|---|---|---|");
}

/// One line of the table.
pub fn print(row: &Measured) {
    let target = match row.target {
        Target::Ratio(most) => format!("<= {most}"),
        Target::Absolute(most) => format!("<= {most} {}", row.unit),
        Target::None => "-".to_owned(),
    };
    let verdict = match (row.target, row.holds()) {
        _ if row.disturbed => "disturbed",
        (Target::None, _) => "",
        (_, true) => "ok",
        (_, false) => "MISSED",
    };
    println!(
        "| {} | {:.1} {} | {:.1} | {:.3} | {target} | {verdict} |",
        row.name,
        row.ours,
        row.unit,
        row.peer,
        row.ours / row.peer
    );
}
