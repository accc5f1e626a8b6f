//! `cargo xtask check`: everything that must hold before a change lands.

use crate::run::{cargo, root, run};

/// Workspaces beside the main one: they carry peers and flags that the product must not depend on.
const SIDE_WORKSPACES: [&str; 3] = ["bench", "fuzz", "loom"];

/// Runs every check in the order in which a mistake is cheapest to find.
pub(crate) fn check() -> Result<(), String> {
    run("format", cargo().args(["fmt", "--all", "--check"]))?;
    run("lints", cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    run("tests", cargo().args(["test", "--workspace", "--all-targets"]))?;
    run("documentation's examples", cargo().args(["test", "--workspace", "--doc"]))?;
    run(
        "documentation",
        cargo().args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    SIDE_WORKSPACES.into_iter().try_for_each(side_workspace)
}

fn side_workspace(name: &str) -> Result<(), String> {
    let folder = root().join(name);
    run(
        &format!("format of {name}/"),
        cargo().current_dir(&folder).args(["fmt", "--all", "--check"]),
    )?;
    run(
        &format!("lints of {name}/"),
        cargo().current_dir(&folder).args(["clippy", "--all-targets", "--", "-D", "warnings"]),
    )
}
