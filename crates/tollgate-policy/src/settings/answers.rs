//! How answers describe limits.

/// How answers describe limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers {
    /// Which header families are sent.
    pub headers: Vec<HeaderFamily>,
    /// What `X-RateLimit-Reset` holds.
    pub reset: ResetForm,
    /// By how many per cent, at most, the stated times are lengthened at random; 0 to 100.
    pub retry_jitter: u8,
}

/// A family of header fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderFamily {
    /// `RateLimit-Policy` and `RateLimit` as in drafts 08 to 11.
    Ietf,
    /// `X-RateLimit-Limit`, `-Remaining`, `-Reset`.
    XRateLimit,
    /// `RateLimit-Limit`, `-Remaining`, `-Reset` as in draft 03.
    Draft03,
}

/// What `X-RateLimit-Reset` holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResetForm {
    /// Seconds since the epoch.
    #[default]
    Epoch,
    /// Seconds from now.
    Delta,
}
