//! The streams of a connection, each a task of its own. One whose client asked for an answer and does not take it is reset:
//! while it waits for the client's window nothing else would end it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use hyper::rt::Executor;
use tollgate_store::{Clock, SystemClock};

use crate::alarm::Alarm;
use crate::connection::Pace;
use crate::metrics::Metrics;

tokio::task_local! {
    /// The stream that the running task serves.
    static STREAM: Arc<Taking>;
}

/// How a client takes the answer of one stream.
#[derive(Debug)]
pub(crate) struct Taking {
    clock: Arc<SystemClock>,
    /// Since when a piece of the answer is offered and the next was not asked for; 0 where it was.
    offered: AtomicU64,
}

impl Taking {
    /// That of the stream which this task serves; none for HTTP/1.1.
    pub(crate) fn of_this_task() -> Option<Arc<Taking>> {
        STREAM.try_with(Arc::clone).ok()
    }

    /// A piece was handed out, or the head.
    pub(crate) fn offer(&self) {
        self.offered.store(self.clock.now().as_micros(), Ordering::Relaxed);
    }

    /// There was room for it: the next is asked for.
    pub(crate) fn ask(&self) {
        self.offered.store(0, Ordering::Relaxed);
    }

    /// Ends when a piece has been offered for `longest`. It has to be polled whenever the stream was.
    async fn refused(&self, longest: Duration) {
        let longest = u64::try_from(longest.as_micros()).unwrap_or(u64::MAX);
        let mut alarm = Alarm::default();
        std::future::poll_fn(|cx| match self.offered.load(Ordering::Relaxed) {
            0 => Poll::Pending,
            offered => alarm.poll(offered.saturating_add(longest), &self.clock, cx),
        })
        .await;
    }
}

/// Runs the streams of one connection.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    pub(super) clock: Arc<SystemClock>,
    pub(super) pace: Arc<Pace>,
    pub(super) metrics: Arc<Metrics>,
}

impl<F> Executor<F> for Streams
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let clock = Arc::clone(&self.clock);
        let taking = Arc::new(Taking { clock, offered: AtomicU64::new(0) });
        let (longest, metrics) = (self.pace.longest_silence(), Arc::clone(&self.metrics));
        // A task is moved several times before it runs.
        let mut stream = Box::pin(stream);
        tokio::spawn(STREAM.scope(Arc::clone(&taking), async move {
            tokio::select! {
                biased;
                () = &mut stream => {}
                // What is dropped before its end is reset.
                () = taking.refused(longest) => drop(metrics.stalled_streams.inc()),
            }
        }));
    }
}
