//! Interim answers (1xx) on their way to a client of HTTP/1.1. hyper's server sends none but 100, so they are written below it:
//! where it has nothing left to write, before the answer that they announce.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;

/// What is to go out before the answer to the request that is being served.
#[derive(Debug, Default)]
pub(super) struct Interim {
    bytes: Vec<u8>,
    written: usize,
}

impl Interim {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Nothing is left.
    pub(super) fn is_out(&self) -> bool {
        self.bytes.is_empty()
    }

    /// A part has gone out: nothing else may go before the rest.
    pub(super) fn is_half_out(&self) -> bool {
        self.written > 0
    }

    /// Writes what is there. Wakes the task of the connection when all of it is out: its request waits for that.
    pub(super) fn poll_out(
        &mut self,
        transport: &mut (impl AsyncWrite + Unpin),
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        while let Some(rest @ [_, ..]) = self.bytes.get(self.written..) {
            let written = ready!(Pin::new(&mut *transport).poll_write(cx, rest))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.written += written;
        }
        if self.is_half_out() {
            *self = Interim::default();
            cx.waker().wake_by_ref();
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn what_is_half_out_goes_on_where_it_was() {
        let mut cx = Context::from_waker(Waker::noop());
        let (mut near, mut far) = tokio::io::duplex(8);
        let mut interim = Interim::default();
        interim.add(b"one, two, ");
        interim.add(b"three");
        assert!(!interim.is_out() && !interim.is_half_out());
        let (mut rounds, mut all) = (0, Vec::new());
        while interim.poll_out(&mut near, &mut cx).is_pending() {
            assert!(interim.is_half_out());
            far.read_buf(&mut all).await.expect("a part");
            rounds += 1;
        }
        drop(near);
        far.read_to_end(&mut all).await.expect("the rest");
        assert_eq!((rounds, all.as_slice()), (1, &b"one, two, three"[..]));
        assert!(interim.is_out() && !interim.is_half_out());
    }
}
