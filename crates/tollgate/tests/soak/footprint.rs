//! What a process holds.

use std::fmt;

/// Memory and descriptors of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Footprint {
    /// Resident bytes that no file stands behind.
    pub(crate) memory: u64,
    pub(crate) descriptors: usize,
}

impl Footprint {
    /// Of the process `id`, now.
    pub(crate) fn of(id: u32) -> Footprint {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("a line");
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("kB");
        let open = std::fs::read_dir(format!("/proc/{id}/fd")).expect("it runs");
        Footprint { memory: kilobytes * 1024, descriptors: open.count() }
    }
}

impl fmt::Display for Footprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} KiB and {} descriptors", self.memory / 1024, self.descriptors)
    }
}
