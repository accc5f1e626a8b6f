//! `cargo xtask bench`: the speed table, ours and the named peers in one run.

use crate::run::{cargo, root, run};

/// Runs the rows whose names contain one of `rows`, or all. The row `replay` has no peer; it is the last.
pub(crate) fn bench(rows: &[&str]) -> Result<(), String> {
    let (replay, peers): (Vec<&str>, Vec<&str>) = rows.iter().partition(|row| **row == "replay");
    if rows.is_empty() || !peers.is_empty() {
        let folder = root().join("bench");
        let mut table = cargo();
        run("benchmarks", table.current_dir(folder).args(["run", "--release", "--"]).args(peers))?;
    }
    if rows.is_empty() || !replay.is_empty() {
        let example =
            ["run", "--release", "--package", "tollgate-sim", "--example", "replay_speed"];
        run("replay, one core, three limits", cargo().args(example))?;
    }
    Ok(())
}
