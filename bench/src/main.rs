//! The speed table. `cargo run --release` runs every row; words after `--` choose those whose names contain one of them.
//!
//! Each row runs ours and the peer in turn, several rounds, and compares the medians. What a row cannot share with others
//! (memory, pauses) runs in a process of its own.

mod harness;
mod keys;
mod peers;
mod rows;
mod table;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, what] = &arguments[..]
        && flag == "--alone"
    {
        return rows::run_alone(what);
    }
    let wanted =
        |name: &str| arguments.is_empty() || arguments.iter().any(|word| name.contains(word));
    table::print_head();
    let mut missed = 0;
    for row in rows::all().into_iter().filter(|row| wanted(row.name)) {
        for result in (row.run)(row.name) {
            missed += usize::from(!result.holds() && !result.disturbed);
            table::print(&result);
        }
    }
    println!("\n{missed} missed");
    ExitCode::SUCCESS
}
