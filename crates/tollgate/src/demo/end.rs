//! When the demo ends: at Ctrl-C, at the signals of a system or terminal that closes, or after the time that was asked for.

use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::sleep;

/// The demo's end. From its making on, signals end nothing but what waits for it, so that the demo clears away after itself.
#[derive(Debug)]
pub(super) struct End {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    after: Option<Duration>,
}

impl End {
    /// An end at a signal, after `seconds` at the latest.
    ///
    /// # Errors
    /// Where the system refuses to tell of signals.
    pub(super) fn new(seconds: Option<u64>) -> io::Result<End> {
        Ok(End {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            after: seconds.map(Duration::from_secs),
        })
    }

    /// Waits for it.
    pub(super) async fn come(mut self) {
        let time = async {
            match self.after {
                Some(span) => sleep(span).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = time => {}
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}
