//! Several calls at a time, without a runtime to spawn them on.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// Runs `work` on all `items`, at most `most` (not zero) at a time.
pub(super) async fn concurrently<T, F>(
    items: impl IntoIterator<Item = T>,
    most: usize,
    work: impl Fn(T) -> F,
) where
    F: Future<Output = ()>,
{
    let mut items = items.into_iter();
    let mut running: Vec<Pin<Box<F>>> = Vec::new();
    loop {
        while running.len() < most {
            match items.next() {
                Some(item) => running.push(Box::pin(work(item))),
                None => break,
            }
        }
        if running.is_empty() {
            return;
        }
        poll_fn(|context| {
            let before = running.len();
            running.retain_mut(|one| one.as_mut().poll(context).is_pending());
            if running.len() < before { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}
