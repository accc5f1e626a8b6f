//! `cargo xtask loom`: the memory table's lines under every interleaving of two threads.

use crate::run::{cargo, root, run};

/// Runs the tests of `loom/`, which is a workspace of its own.
pub(crate) fn loom() -> Result<(), String> {
    run("loom", cargo().current_dir(root().join("loom")).args(["test", "--release"]))
}
