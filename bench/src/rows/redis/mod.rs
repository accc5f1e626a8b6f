//! A Redis of its own, and what leases spare it.

mod leased;
mod server;

use crate::table::Measured;
use server::Server;

/// Every row of it; none where no server is installed.
pub fn run(name: &str) -> Vec<Measured> {
    let Some(server) = Server::start() else {
        eprintln!("skipped: redis-server is not installed; scripts/setup.sh installs it");
        return Vec::new();
    };
    leased::run(name, &server)
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
