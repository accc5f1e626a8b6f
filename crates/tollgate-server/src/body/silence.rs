//! The longest silence within a body. The timer exists only while a sender is waited for.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Sleep;

/// Counts from the moment at which a sender began to be waited for.
#[derive(Debug)]
pub(crate) struct Silence {
    longest: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Silence {
    /// A silence that is broken after `longest`.
    pub(crate) fn new(longest: Duration) -> Silence {
        Silence { longest, timer: None }
    }

    /// Something came.
    pub(crate) fn heard(&mut self) {
        self.timer = None;
    }

    /// Nothing is there yet: whether that has lasted too long. Wakes the task when it will have.
    pub(crate) fn poll_too_long(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let longest = self.longest;
        self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(longest))).as_mut().poll(cx)
    }
}
