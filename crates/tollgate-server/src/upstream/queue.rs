//! Requests that wait until one of a pool's servers has a connection free.

use std::sync::atomic::{AtomicUsize, Ordering};

use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::Notify;

/// Those that wait, over all threads.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: AtomicUsize,
    freed: Notify,
}

/// One that waits.
pub(super) struct Waiter<'a> {
    queue: &'a Queue,
    gauge: &'a Gauge,
}

impl Queue {
    /// Lines up, unless `most` wait already.
    pub(super) fn enter<'a>(&'a self, most: usize, gauge: &'a Gauge) -> Option<Waiter<'a>> {
        gauge.inc();
        let waiter = Waiter { queue: self, gauge };
        (self.waiting.fetch_add(1, Ordering::SeqCst) < most).then_some(waiter)
    }

    /// A place is free.
    pub(super) fn freed(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.freed.notify_one();
        }
    }
}

impl Waiter<'_> {
    /// Waits until `take` has something; it is asked whenever a place becomes free.
    pub(super) async fn until<T>(&self, mut take: impl FnMut() -> Option<T>) -> T {
        loop {
            let freed = self.queue.freed.notified();
            if let Some(taken) = take() {
                return taken;
            }
            freed.await;
        }
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.queue.waiting.fetch_sub(1, Ordering::SeqCst);
        self.gauge.dec();
        // It may have been woken as it left.
        self.queue.freed();
    }
}
