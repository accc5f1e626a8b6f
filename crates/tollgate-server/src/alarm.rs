//! A timer for deadlines that nearly always move on before they come.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Sleep;
use tollgate_store::{Clock, SystemClock};

/// A timer that outlives the deadlines it is asked for: it is set anew only where one is nearer than what it is set to, so
/// one deadline after another costs neither a timer nor a look at the clock.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    timer: Option<Pin<Box<Sleep>>>,
    /// What it is set to, in microseconds.
    set: u64,
}

impl Alarm {
    /// Whether `deadline` (microseconds by `clock`) is over; if not, wakes the task when it will be. It may be woken before,
    /// by a deadline that was asked for earlier.
    pub(crate) fn poll(
        &mut self,
        deadline: u64,
        clock: &SystemClock,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        let left = || Duration::from_micros(deadline.saturating_sub(clock.now().as_micros()));
        let timer = match &mut self.timer {
            Some(timer) => timer,
            None => {
                self.set = deadline;
                self.timer.insert(Box::pin(tokio::time::sleep(left())))
            }
        };
        loop {
            if deadline < self.set {
                self.set = deadline;
                timer.as_mut().set(tokio::time::sleep(left()));
            }
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            if clock.now().as_micros() >= deadline {
                // What comes next is asked of a new one.
                self.timer = None;
                return Poll::Ready(());
            }
            self.set = u64::MAX;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test]
    async fn a_deadline_comes_after_earlier_ones_that_moved_on() {
        let (clock, mut alarm) = (SystemClock::new(), Alarm::default());
        let start = clock.now().as_micros();
        let far = start + 3_600_000_000;
        let polled = poll_fn(|cx| Poll::Ready(alarm.poll(far, &clock, cx))).await;
        assert!(polled.is_pending());
        // A nearer one, and then one that is later than what it is set to.
        let near = start + 20_000;
        let polled = poll_fn(|cx| Poll::Ready(alarm.poll(near, &clock, cx))).await;
        assert!(polled.is_pending() || clock.now().as_micros() >= near);
        let later = start + 60_000;
        poll_fn(|cx| alarm.poll(later, &clock, cx)).await;
        assert!(clock.now().as_micros() >= later);
        let polled = poll_fn(|cx| Poll::Ready(alarm.poll(later, &clock, cx))).await;
        assert!(polled.is_ready() || alarm.set == later, "what is over is over again, or at once");
        poll_fn(|cx| alarm.poll(later, &clock, cx)).await;
    }
}
