//! Nobody is there to be answered.

/// The client closed its connection before its answer came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientGone;

impl std::fmt::Display for ClientGone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the client closed its connection before its answer came")
    }
}

impl std::error::Error for ClientGone {}
