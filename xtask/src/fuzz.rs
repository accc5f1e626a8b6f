//! `cargo xtask fuzz`: the fuzz targets, by cargo-fuzz. `cargo xtask beside-nginx`: raw bytes to the gateway and to nginx.

use crate::run::{cargo, root, run};

/// How long a target runs unless said otherwise.
pub(crate) const DEFAULT_SECONDS: u32 = 60;

/// Runs `target`, or every target one after the other, for `seconds` each.
pub(crate) fn fuzz(target: Option<&str>, seconds: u32) -> Result<(), String> {
    match target {
        Some(target) => fuzz_one(target, seconds),
        None => targets()?.iter().try_for_each(|target| fuzz_one(target, seconds)),
    }
}

/// Gives mutated requests to the gateway and to nginx for `seconds`. Its last words say how many, and the seed.
pub(crate) fn beside_nginx(seconds: u32) -> Result<(), String> {
    run(
        &format!("the gateway beside nginx for {seconds} s (needs nginx: scripts/setup.sh)"),
        cargo()
            .env("BESIDE_NGINX_SECONDS", seconds.to_string())
            .args(["test", "-p", "tollgate-server", "--test", "beside_nginx"])
            .args(["--", "mutated", "--nocapture"]),
    )
}

fn fuzz_one(target: &str, seconds: u32) -> Result<(), String> {
    let known = targets()?;
    if !known.iter().any(|name| name == target) {
        return Err(format!("there is no fuzz target '{target}'; there are: {}", known.join(", ")));
    }
    // The fuzzer reads it even before it found anything.
    let corpus = root().join("fuzz/corpus").join(target);
    std::fs::create_dir_all(&corpus).map_err(|error| format!("{}: {error}", corpus.display()))?;
    // The sanitizer and the coverage flags are unstable; RUSTC_BOOTSTRAP lets the stable toolchain take them.
    run(
        &format!("fuzz {target} for {seconds} s (needs: cargo install cargo-fuzz)"),
        cargo()
            .env("RUSTC_BOOTSTRAP", "1")
            .args(["fuzz", "run", "--sanitizer", "none", target])
            .args([
                format!("fuzz/corpus/{target}"),
                format!("fuzz/seeds/{target}"),
                "--".to_owned(),
                format!("-max_total_time={seconds}"),
            ]),
    )
}

/// The names of the targets: the files in `fuzz/fuzz_targets`.
fn targets() -> Result<Vec<String>, String> {
    let folder = root().join("fuzz/fuzz_targets");
    let entries =
        std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| {
            entry.file_name().into_string().ok()?.strip_suffix(".rs").map(str::to_owned)
        })
        .collect();
    names.sort();
    Ok(names)
}
