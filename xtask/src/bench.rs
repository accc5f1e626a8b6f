//! `cargo xtask bench`: the speed table, ours and the named peers in one run.

use crate::run::{cargo, root, run};

/// Runs the rows whose names contain one of `rows`, or all.
pub(crate) fn bench(rows: &[&str]) -> Result<(), String> {
    run(
        "benchmarks",
        cargo().current_dir(root().join("bench")).args(["run", "--release", "--"]).args(rows),
    )
}
