//! Lines on their way to a stream that may be slow, stuck or full: a thread writes them, so that nobody else waits for it.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

/// Lines that wait to be written; what comes while they are full is lost, and counted.
const WAITING: usize = 4096;

/// How long the last lines may take when the program ends.
const LAST: Duration = Duration::from_secs(1);

/// The lines of this program; dropped, it waits a little until the last is written.
#[derive(Debug)]
pub(crate) struct Lines {
    writer: Writer,
    /// Nothing more is said: the thread ends when nothing waits.
    ended: Arc<AtomicBool>,
    /// Has no sender any more when all is written.
    written: Receiver<()>,
}

/// Takes lines, and never waits.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    /// Nothing instead of a line only wakes the thread.
    lines: SyncSender<Option<Vec<u8>>>,
    lost: Arc<AtomicU64>,
}

impl Lines {
    /// Lines to `stream`.
    ///
    /// # Errors
    /// Where the system has no thread for them.
    pub(crate) fn to(stream: impl Write + Send + 'static) -> io::Result<Lines> {
        let (lines, waiting) = sync_channel(WAITING);
        let (end, written) = sync_channel(0);
        let writer = Writer { lines, lost: Arc::default() };
        let queue = Queue { waiting, ended: Arc::default(), lost: Arc::clone(&writer.lost) };
        let ended = Arc::clone(&queue.ended);
        thread::Builder::new().name("log".to_owned()).spawn(move || {
            queue.write(stream);
            drop::<SyncSender<()>>(end);
        })?;
        Ok(Lines { writer, ended, written })
    }

    /// Takes lines for them.
    pub(crate) fn writer(&self) -> Writer {
        self.writer.clone()
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // A thread that waits for lines has to be woken; where the queue is full, it does not wait.
        let _ = self.writer.lines.try_send(None);
        // Nothing is ever sent: it ends with the thread, or when the time is over.
        let _ = self.written.recv_timeout(LAST);
    }
}

/// The thread's end of the lines.
struct Queue {
    waiting: Receiver<Option<Vec<u8>>>,
    ended: Arc<AtomicBool>,
    lost: Arc<AtomicU64>,
}

impl Queue {
    /// Writes what waits, until nothing more comes.
    fn write(&self, mut stream: impl Write) {
        while let Some(line) = self.next() {
            // A line that the stream does not take is lost as well.
            if stream.write_all(&line).is_err() {
                self.lost.fetch_add(1, Ordering::Relaxed);
                continue;
            }
            let gap = self.lost.swap(0, Ordering::Relaxed);
            if gap > 0 && writeln!(stream, "... lines of the log that were lost: {gap}").is_err() {
                self.lost.fetch_add(gap, Ordering::Relaxed);
            }
        }
    }

    /// The next line; none when all that was said before the end is written.
    fn next(&self) -> Option<Vec<u8>> {
        loop {
            let found = match self.waiting.try_recv() {
                Ok(found) => found,
                Err(TryRecvError::Empty) if !self.ended.load(Ordering::SeqCst) => {
                    self.waiting.recv().ok()?
                }
                Err(_) => return None,
            };
            if found.is_some() {
                return found;
            }
        }
    }
}

impl Write for Writer {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Err(TrySendError::Full(_)) = self.lines.try_send(Some(line.to_vec())) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Writer {
    type Writer = Writer;

    fn make_writer(&self) -> Writer {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A stream that takes nothing while its bytes are locked; where it says so, the first write fails.
    #[derive(Clone, Default)]
    struct Stream(Arc<Mutex<Vec<u8>>>, bool);

    impl Write for Stream {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.1 {
                self.1 = false;
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0.lock().expect("no panic").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(stream: &Stream) -> String {
        String::from_utf8(stream.0.lock().expect("no panic").clone()).expect("text")
    }

    #[test]
    fn what_is_said_is_written_before_the_end() {
        let stream = Stream::default();
        let lines = Lines::to(stream.clone()).expect("a thread");
        for number in 0..100 {
            writeln!(lines.writer(), "{number}").expect("it never fails");
        }
        drop(lines);
        assert!(written(&stream).ends_with("98\n99\n"));
    }

    #[test]
    fn a_stuck_stream_costs_lines_and_no_time() {
        let stream = Stream::default();
        let stuck = stream.0.lock().expect("no panic");
        let lines = Lines::to(stream.clone()).expect("a thread");
        for _ in 0..WAITING + 10 {
            lines.writer().write_all(b"x\n").expect("it never fails");
        }
        drop(stuck);
        drop(lines);
        let text = written(&stream);
        let gap = WAITING + 10 - text.matches("x\n").count();
        assert!(gap > 0 && text.contains(&format!("lost: {gap}\n")), "{gap}");
    }

    #[test]
    fn a_full_disk_is_told_of_when_there_is_room_again() {
        let stream = Stream(Arc::default(), true);
        let lines = Lines::to(stream.clone()).expect("a thread");
        lines.writer().write_all(b"lost\n").expect("it never fails");
        lines.writer().write_all(b"kept\n").expect("it never fails");
        drop(lines);
        assert_eq!(written(&stream), "kept\n... lines of the log that were lost: 1\n");
    }
}
