//! The layered example policy, as a file of the demo's own that may be edited while it runs.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The policy that the README shows, built in, so that the command alone is enough.
const EXAMPLE: &str = include_str!("../../../../examples/llm-platform.yaml");

/// The upstream that the example names.
const EXAMPLE_UPSTREAM: &str = "127.0.0.1:9001";

/// A copy of the example in a folder of its own; removed when dropped.
#[derive(Debug)]
pub(super) struct PolicyCopy {
    folder: PathBuf,
    path: PathBuf,
}

impl PolicyCopy {
    /// Writes the example with `upstream` as its only server.
    ///
    /// # Errors
    /// Where the folder for temporary files takes nothing.
    pub(super) fn write(upstream: SocketAddr) -> io::Result<PolicyCopy> {
        let folder = std::env::temp_dir().join(format!(
            "tollgate-demo-{}-{}",
            std::process::id(),
            upstream.port()
        ));
        // Made new, so that nobody else's folder or link is written to.
        fs::create_dir(&folder)?;
        let path = folder.join("policy.yaml");
        let copy = PolicyCopy { folder, path };
        fs::write(&copy.path, EXAMPLE.replace(EXAMPLE_UPSTREAM, &upstream.to_string()))?;
        Ok(copy)
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PolicyCopy {
    fn drop(&mut self) {
        // What cannot be removed is the system's to tidy: it is in its folder for temporary files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_names_the_demos_own_upstream_and_goes_with_the_demo() {
        let copy = PolicyCopy::write(SocketAddr::from(([127, 0, 0, 1], 4711)))
            .expect("a temporary folder");
        let text = fs::read_to_string(copy.path()).expect("the copy");
        assert!(text.contains("127.0.0.1:4711") && !text.contains(EXAMPLE_UPSTREAM));
        let path = copy.path().to_owned();
        drop(copy);
        assert!(!path.exists());
    }
}
