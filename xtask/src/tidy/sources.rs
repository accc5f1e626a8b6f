//! The project's Rust files, split into code and inline tests.

use std::io;
use std::path::{Path, PathBuf};

use crate::run::root;

/// One Rust file.
pub(super) struct Source {
    /// Its path from the root, with forward slashes.
    pub(super) path: String,
    /// Its text.
    pub(super) text: String,
}

impl Source {
    /// Lines before an inline `mod tests {`.
    pub(super) fn code_lines(&self) -> usize {
        self.inline_tests_start().unwrap_or_else(|| self.text.lines().count())
    }

    /// Lines from an inline `mod tests {` to the end.
    pub(super) fn inline_test_lines(&self) -> usize {
        self.text.lines().count() - self.code_lines()
    }

    fn inline_tests_start(&self) -> Option<usize> {
        let lines: Vec<&str> = self.text.lines().collect();
        lines
            .windows(2)
            .position(|pair| pair[0] == "#[cfg(test)]" && pair[1].ends_with("mod tests {"))
    }

    /// Whether it is a test, benchmark or fuzz target rather than part of the product.
    pub(super) fn is_test(&self) -> bool {
        ["/tests/", "/benches/", "/examples/"].iter().any(|part| self.path.contains(part))
            || ["bench/", "fuzz/", "xtask/"].iter().any(|part| self.path.starts_with(part))
            || self.path.ends_with("tests.rs")
    }
}

/// Every Rust file that git would commit, in the order of paths.
pub(super) fn all() -> io::Result<Vec<Source>> {
    let mut found = Vec::new();
    for folder in ["crates", "xtask", "bench", "fuzz"] {
        collect(&root().join(folder), &mut found)?;
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<Source>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path: PathBuf = entry?.path();
        let name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            if !["target", "corpus", "artifacts"].contains(&name.as_str()) {
                collect(&path, found)?;
            }
        } else if name.ends_with(".rs") {
            let short =
                path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            found.push(Source { path: short, text: std::fs::read_to_string(&path)? });
        }
    }
    Ok(())
}
