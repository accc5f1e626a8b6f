//! The rows of the speed table.

mod batch;
mod direct;
mod hot;
mod layered;
mod many;
mod memory;
mod pauses;
mod redis;

use std::process::{Command, ExitCode};

use crate::table::Measured;

/// A row, or several of one kind.
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Measures it.
    pub run: fn(&str) -> Vec<Measured>,
}

/// All rows, in the order of the table.
pub fn all() -> Vec<Row> {
    vec![
        Row { name: "direct", run: direct::run },
        Row { name: "hot key", run: hot::run },
        Row { name: "1 M keys", run: many::run },
        Row { name: "batch of 16", run: batch::run },
        Row { name: "memory a key", run: memory::run },
        Row { name: "worst pause", run: pauses::run },
        Row { name: "three limits", run: layered::run },
        Row { name: "redis", run: redis::run },
    ]
}

/// Runs one measurement in this process, which was started for it, and prints its numbers.
pub fn run_alone(what: &str) -> ExitCode {
    let numbers = memory::alone(what).map(Vec::from).or_else(|| pauses::alone(what));
    match numbers {
        Some(numbers) => {
            let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
            println!("{}", numbers.join(" "));
            ExitCode::SUCCESS
        }
        None => ExitCode::FAILURE,
    }
}

/// Has `what` measured in a process of its own.
fn alone<const N: usize>(what: &str) -> [f64; N] {
    let this = std::env::current_exe().expect("this program's path");
    let output = Command::new(this).args(["--alone", what]).output().expect("a process");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut numbers = text.split_whitespace().filter_map(|word| word.parse().ok());
    std::array::from_fn(|_| numbers.next().unwrap_or(f64::NAN))
}
