//! Recorded requests from files: opened, unpacked, cut into lines, read and merged by time.

mod lines;
mod merge;
mod open;
mod source;

pub use lines::{Line, Lines};
pub use merge::Merge;
pub use open::{Consumed, open};
pub use source::{OnBadLine, Source};
