//! One connection's life: opened, shared by all calls, replaced when it breaks.
//!
//! The connection is ours rather than a client library's because of what must be known about each call: one that was
//! written is never written again, one whose caller has given up before it was written is not written at all, and one that
//! was written keeps its place among those in flight until its answer is there or the connection is gone.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use redis::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc, oneshot};

use super::bounded::Bounded;
use super::dial::Stream;
use super::observed::Counts;
use super::places::Place;

/// So many time-outs without any answer between them make a connection suspect; fewer do after a while.
const SUSPECT: u32 = 3;

/// A suspect connection that brings nothing for so long is given up.
const SILENCE: Duration = Duration::from_secs(1);

/// No reply is longer; one that is cannot be ours.
const LONGEST_REPLY: usize = 16 * 1024 * 1024;

/// Calls are written together up to this many bytes.
const BATCH: usize = 64 * 1024;

/// A call on its way to the server.
#[derive(Debug)]
pub(super) struct Request {
    /// Its bytes on the wire.
    pub(super) packed: Vec<u8>,
    /// Replies that come before the one that answers it.
    pub(super) preamble: usize,
    /// Where the answer goes. Dropped unanswered where the connection is gone.
    pub(super) answer: oneshot::Sender<Value>,
    /// Its place among the calls in flight; the connection's own calls need none.
    pub(super) place: Option<Place>,
}

/// A call that was written.
struct Waiting {
    preamble: usize,
    answer: oneshot::Sender<Value>,
    _place: Option<Place>,
}

/// A connection that takes calls.
#[derive(Debug)]
pub(super) struct Live {
    requests: mpsc::UnboundedSender<Request>,
    /// Time-outs since the last answer.
    unanswered: AtomicU32,
    condemned: AtomicBool,
    attention: Notify,
}

impl Live {
    pub(super) fn new() -> (Live, mpsc::UnboundedReceiver<Request>) {
        let (requests, receiver) = mpsc::unbounded_channel();
        let live = Live {
            requests,
            unanswered: AtomicU32::new(0),
            condemned: AtomicBool::new(false),
            attention: Notify::new(),
        };
        (live, receiver)
    }

    /// Queues a call; gives it back where the connection is gone.
    pub(super) fn send(&self, request: Request) -> Result<(), Request> {
        self.requests.send(request).map_err(|failed| failed.0)
    }

    /// Notes that a call had no answer in time.
    pub(super) fn timed_out(&self) {
        self.unanswered.fetch_add(1, Ordering::Relaxed);
        self.attention.notify_one();
    }

    /// Ends the connection: the server at its other end is the wrong one.
    pub(super) fn condemn(&self) {
        self.condemned.store(true, Ordering::Relaxed);
        self.attention.notify_one();
    }

    pub(super) fn is_condemned(&self) -> bool {
        self.condemned.load(Ordering::Relaxed)
    }

    pub(super) fn is_suspect(&self) -> bool {
        self.unanswered.load(Ordering::Relaxed) >= SUSPECT
    }

    /// Whether a call had no answer in time, and none has come since.
    fn is_in_doubt(&self) -> bool {
        self.unanswered.load(Ordering::Relaxed) > 0 && !self.is_condemned()
    }

    fn answered(&self) {
        self.unanswered.store(0, Ordering::Relaxed);
    }
}

/// Why a connection ended.
#[derive(Debug)]
pub(super) enum End {
    /// The other side ended it, or said what cannot be understood.
    Broken(io::Error),
    /// Nothing came back on it.
    Silent,
    /// The server must not be asked any more.
    Condemned,
}

/// Carries calls over `stream` until the connection ends.
pub(super) async fn carry(
    stream: Box<dyn Stream>,
    live: &Live,
    requests: mpsc::UnboundedReceiver<Request>,
    counts: &Counts,
) -> End {
    let (reader, writer) = tokio::io::split(stream);
    let (written, waiting) = mpsc::unbounded_channel();
    let broken = tokio::select! {
        broken = read(reader, waiting, live, counts) => broken,
        broken = write(writer, requests, written) => broken,
        end = watch(live) => return end,
    };
    End::Broken(broken)
}

async fn write(
    mut writer: impl AsyncWrite + Unpin,
    mut requests: mpsc::UnboundedReceiver<Request>,
    written: mpsc::UnboundedSender<Waiting>,
) -> io::Error {
    let mut batch = Vec::new();
    while let Some(first) = requests.recv().await {
        batch.clear();
        let mut next = Some(first);
        while let Some(request) = next {
            // Whoever gave up before his call was written has not been charged, and will not be.
            if !request.answer.is_closed() {
                batch.extend_from_slice(&request.packed);
                let Request { preamble, answer, place, .. } = request;
                // The reader is there as long as the writer is: one `select!` holds both.
                let _ = written.send(Waiting { preamble, answer, _place: place });
            }
            next = if batch.len() < BATCH { requests.try_recv().ok() } else { None };
        }
        let sent = async {
            writer.write_all(&batch).await?;
            writer.flush().await
        };
        if let Err(error) = sent.await {
            return error;
        }
    }
    io::ErrorKind::NotConnected.into()
}

async fn read(
    reader: impl AsyncRead + Unpin,
    mut waiting: mpsc::UnboundedReceiver<Waiting>,
    live: &Live,
    counts: &Counts,
) -> io::Error {
    let mut reader = Bounded::new(reader, LONGEST_REPLY);
    let mut decoder = Default::default();
    let mut current: Option<Waiting> = None;
    loop {
        let value = match redis::parse_redis_value_async(&mut decoder, &mut reader).await {
            Ok(value) => value,
            Err(error) => return io::Error::other(error),
        };
        reader.begin();
        live.answered();
        let Some(mut waiter) = current.take().or_else(|| waiting.try_recv().ok()) else {
            return io::Error::new(io::ErrorKind::InvalidData, "an answer that nobody waits for");
        };
        if waiter.preamble > 0 {
            waiter.preamble -= 1;
            current = Some(waiter);
        } else if waiter.answer.send(value).is_err() {
            counts.late_answers.add();
        }
    }
}

/// Waits until the connection is condemned, or suspect and as silent as one to a vanished host.
async fn watch(live: &Live) -> End {
    loop {
        live.attention.notified().await;
        while live.is_in_doubt() && !live.is_suspect() {
            // One time-out is often the last: the next answer clears it, and so does the lack of one.
            tokio::select! {
                () = live.attention.notified() => {}
                () = tokio::time::sleep(SILENCE) => break,
            }
        }
        if live.is_condemned() {
            return End::Condemned;
        }
        if !live.is_in_doubt() {
            continue;
        }
        let ping = redis::cmd("PING").get_packed_command();
        let (answer, received) = oneshot::channel();
        // The answer comes behind all that was asked before, so it says that the server works, however slowly.
        let _ = live.send(Request { packed: ping, preamble: 0, answer, place: None });
        if tokio::time::timeout(SILENCE, received).await.is_err() {
            return End::Silent;
        }
    }
}
