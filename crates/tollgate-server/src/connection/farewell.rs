//! When a connection of HTTP/1.1 may be told that the gateway stops. hyper drops what it has of a header then, and closes a
//! connection that has sent nothing yet; its client connected in time, and is let say what it wants.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::watch;

use super::Pace;

/// How long a connection that has sent nothing may take to begin where the gateway stops.
pub(crate) const LAST_CALL: Duration = Duration::from_millis(250);

/// Ends when `stop` says that the gateway stops, and no request is lost to it. To be asked after the connection that keeps
/// `pace`, each time that one was.
pub(super) async fn farewell(pace: &Pace, mut stop: watch::Receiver<bool>) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        // Nobody is left who could stop it.
        return std::future::pending().await;
    }
    let mut late = pin!(tokio::time::sleep(LAST_CALL));
    poll_fn(|cx| match pace {
        new if new.is_new() => late.as_mut().poll(cx),
        // Its header has its own time, and wakes the connection with each piece.
        begun if begun.owes_an_answer() => Poll::Pending,
        _ => Poll::Ready(()),
    })
    .await;
}
