//! A bar that shows how far a replay is, where a person looks at it.

use std::io::IsTerminal;
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};

/// Shows progress through files, in bytes as they are on disk.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Progress through `files`, or nothing where standard error is no terminal.
    pub(crate) fn through<'a>(mut files: impl Iterator<Item = &'a Path>) -> Progress {
        if !std::io::stderr().is_terminal() {
            return Progress(ProgressBar::hidden());
        }
        // The length of a pipe or of standard input is not known.
        let size = |file: &Path| {
            std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file).map(|data| data.len())
        };
        let Some(all) = files.try_fold(0, |sum, file| Some(sum + size(file)?)) else {
            return Progress(ProgressBar::new_spinner());
        };
        let style = ProgressStyle::with_template(
            "{wide_bar} {percent:>3} %  {binary_bytes_per_sec}  {eta} left",
        );
        let bar = ProgressBar::new(all);
        Progress(style.map(|style| bar.clone().with_style(style)).unwrap_or(bar))
    }

    /// So many bytes are behind.
    pub(crate) fn at(&self, bytes: u64) {
        self.0.set_position(bytes);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
