//! Giving back what groups had taken before another refused.
//!
//! It goes on in the background where the decision's budget ends first: it is done once, and only for what was confirmed.

use std::time::Duration;

use tokio::sync::oneshot;
use tollgate_core::Timestamp;

use super::RedisStore;
use super::servers::Deadline;
use crate::Taken;

/// Ends when something was given back, or could not be.
pub(crate) type Returned = oneshot::Receiver<()>;

/// How long giving back may take: nobody waits for it.
const PATIENCE: Duration = Duration::from_secs(2);

impl RedisStore {
    /// Begins to give all of it back.
    pub(crate) fn return_all(&self, taken: Vec<Taken>, now: Timestamp) -> Vec<Returned> {
        taken.into_iter().map(|taken| self.return_one(taken, now)).collect()
    }

    fn return_one(&self, taken: Taken, now: Timestamp) -> Returned {
        let (done, returned) = oneshot::channel();
        let store = self.clone();
        self.0.servers.spawn(async move {
            let deadline = Deadline::within(PATIENCE);
            if store.settle_by(taken, 0, now, deadline).await.is_err() {
                store.0.observed.unreturned();
            }
            // The decision may have ended meanwhile.
            let _ = done.send(());
        });
        returned
    }

    /// Waits until it is given back, or the decision's budget ends.
    pub(crate) async fn until_returned(&self, returned: Returned, deadline: Deadline) {
        let end = self.0.servers.sleep(deadline.remaining());
        tokio::select! {
            _ = returned => {}
            () = end => {}
        }
    }
}
