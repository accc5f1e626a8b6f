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
    /// What it is set to, in microseconds; nothing where it has rung.
    set: Option<u64>,
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
        loop {
            if self.set.is_none_or(|set| deadline < set) {
                self.set = Some(deadline);
                let left = deadline.saturating_sub(clock.now().as_micros());
                let sleep = tokio::time::sleep(Duration::from_micros(left));
                match &mut self.timer {
                    Some(timer) => timer.as_mut().set(sleep),
                    None => self.timer = Some(Box::pin(sleep)),
                }
            }
            if self.timer.as_mut().is_some_and(|timer| timer.as_mut().poll(cx).is_pending()) {
                return Poll::Pending;
            }
            self.set = None;
            // What it was set to may have been an earlier deadline.
            if deadline <= clock.now().as_micros() {
                return Poll::Ready(());
            }
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
        // What is over is over however often it is asked for, and what comes after is not.
        poll_fn(|cx| alarm.poll(later, &clock, cx)).await;
        let polled = poll_fn(|cx| Poll::Ready(alarm.poll(far, &clock, cx))).await;
        assert!(polled.is_pending());
        let never = poll_fn(|cx| Poll::Ready(alarm.poll(u64::MAX, &clock, cx))).await;
        assert!(never.is_pending());
    }
}
