//! Bodies on their way through: bounded, timed, and never held whole.

mod answer;
mod bounded;
mod drain;
mod inbound;
mod relay;
mod silence;
mod trailers;
mod upload;

pub(crate) use answer::ResponseBody;
pub(crate) use bounded::Bounded;
pub(crate) use drain::{DRAINED, drain};
pub(crate) use inbound::Inbound;
pub(crate) use relay::Relay;
pub(crate) use silence::Silence;
pub(crate) use upload::{Upload, UploadFailure, UploadWatch};

/// Why a body ended before its end.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// It is larger than its route passes on.
    TooLarge,
    /// Nothing came for `body_timeout`.
    Silent,
    /// Its sender broke it off.
    Broken(hyper::Error),
}

impl std::fmt::Display for BodyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BodyError::TooLarge => f.write_str("the body is larger than its route passes on"),
            BodyError::Silent => f.write_str("nothing of the body came for body_timeout"),
            BodyError::Broken(_) => f.write_str("the sender broke the body off"),
        }
    }
}

impl std::error::Error for BodyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BodyError::Broken(error) => Some(error),
            BodyError::TooLarge | BodyError::Silent => None,
        }
    }
}
