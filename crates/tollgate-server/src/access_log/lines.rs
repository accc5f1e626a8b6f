//! Lines on their way: each thread of the gateway has a buffer of its own, and one more thread empties them in batches. A
//! target that is slow, stuck or full costs lines, which are counted, and never a request's time.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tollgate_policy::settings::LogTarget;

use super::target::Target;
use crate::metrics::AccessLogMetrics;

/// A buffer takes no more lines than fit into so many bytes.
const ROOM: usize = 1 << 20;

/// A buffer that is this full is emptied before the rest of the batch has come.
const FULL: usize = ROOM / 4;

/// How long a batch gathers.
const GATHER: Duration = Duration::from_millis(100);

/// The lines of one target.
#[derive(Debug)]
pub(super) struct Lines {
    shared: Arc<Shared>,
    /// Has no sender any more when all is written.
    written: Mutex<Receiver<()>>,
}

#[derive(Debug)]
struct Shared {
    buffers: Vec<Mutex<Buffer>>,
    /// Some buffer is not empty.
    waiting: AtomicBool,
    wake: Mutex<Wake>,
    woken: Condvar,
    metrics: AccessLogMetrics,
    /// Lines of one spell of trouble.
    lost: AtomicU64,
}

#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    lines: u64,
}

/// What the writing thread is woken for.
#[derive(Debug, Default)]
struct Wake {
    lines: bool,
    at_once: bool,
    over: bool,
}

impl Lines {
    /// Lines to `to`, out of the buffers of `workers` threads.
    pub(super) fn start(
        to: &LogTarget,
        workers: usize,
        metrics: AccessLogMetrics,
    ) -> io::Result<Lines> {
        let shared = Arc::new(Shared {
            buffers: (0..workers.max(1)).map(|_| Mutex::default()).collect(),
            waiting: AtomicBool::new(false),
            wake: Mutex::default(),
            woken: Condvar::new(),
            metrics,
            lost: AtomicU64::new(0),
        });
        let (end, written) = sync_channel(0);
        let writer = Writer {
            shared: Arc::clone(&shared),
            target: Target::new(to),
            torn: false,
            troubled: false,
        };
        thread::Builder::new().name("access-log".to_owned()).spawn(move || {
            writer.run();
            drop::<SyncSender<()>>(end);
        })?;
        Ok(Lines { shared, written: Mutex::new(written) })
    }

    /// Has `write` append a line to the buffer of the thread `worker`.
    pub(super) fn add(&self, worker: usize, write: impl FnOnce(&mut Vec<u8>)) {
        let shared = &self.shared;
        let Some(buffer) = shared.buffers.get(worker % shared.buffers.len()) else { return };
        let mut buffer = buffer.lock();
        let before = buffer.bytes.len();
        if before < ROOM {
            write(&mut buffer.bytes);
        }
        if before >= ROOM || buffer.bytes.len() > ROOM {
            buffer.bytes.truncate(before);
            drop(buffer);
            return shared.lose(1);
        }
        buffer.lines += 1;
        let filled = before < FULL && buffer.bytes.len() >= FULL;
        drop(buffer);
        if filled || !shared.waiting.swap(true, Ordering::AcqRel) {
            shared.wake(|wake| {
                wake.lines = true;
                wake.at_once |= filled;
            });
        }
    }

    /// Has the target looked at, though no line comes.
    pub(super) fn reopen(&self) {
        self.shared.wake(|wake| (wake.lines, wake.at_once) = (true, true));
    }

    /// Ends, and waits until all is written, at most `longest`.
    pub(super) fn close(&self, longest: Duration) {
        self.shared.wake(|wake| wake.over = true);
        // Nothing is ever sent: it ends with the thread, or when the time is over.
        let _ = self.written.lock().recv_timeout(longest);
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.shared.wake(|wake| wake.over = true);
    }
}

impl Shared {
    fn wake(&self, why: impl FnOnce(&mut Wake)) {
        why(&mut self.wake.lock());
        self.woken.notify_one();
    }

    fn lose(&self, lines: u64) {
        self.metrics.lost.inc_by(lines);
        self.lost.fetch_add(lines, Ordering::Relaxed);
    }

    /// Waits until there are lines and a batch of them has gathered; `true` where it is over.
    fn gather(&self) -> bool {
        let mut wake = self.wake.lock();
        while !wake.lines && !wake.over {
            self.woken.wait(&mut wake);
        }
        if !wake.at_once && !wake.over {
            self.woken.wait_while_for(&mut wake, |wake| !wake.at_once && !wake.over, GATHER);
        }
        (wake.lines, wake.at_once) = (false, false);
        let over = wake.over;
        drop(wake);
        self.waiting.store(false, Ordering::Release);
        over
    }
}

/// The thread that writes.
struct Writer {
    shared: Arc<Shared>,
    target: Target,
    /// The last line was written in part.
    torn: bool,
    /// A spell of trouble was told of.
    troubled: bool,
}

impl Writer {
    fn run(mut self) {
        let mut batch = Buffer::default();
        let mut over = false;
        // What is wrong with the target is told before there is a line.
        self.refresh();
        while !over {
            over = self.shared.gather();
            self.refresh();
            let shared = Arc::clone(&self.shared);
            for buffer in &shared.buffers {
                // The emptied one goes back in the place of the full one.
                std::mem::swap(&mut *buffer.lock(), &mut batch);
                self.write(&batch);
                batch.bytes.clear();
                batch.lines = 0;
            }
        }
    }

    fn refresh(&mut self) {
        if let Err(error) = self.target.refresh() {
            self.complain(&error);
        }
    }

    fn write(&mut self, batch: &Buffer) {
        if batch.lines == 0 {
            return;
        }
        if self.torn && self.target.write(b"\n").1.is_ok() {
            self.torn = false;
        }
        let (written, result) = if self.torn {
            (0, Err(io::ErrorKind::StorageFull.into()))
        } else {
            self.target.write(&batch.bytes)
        };
        let whole = match &result {
            Ok(()) => batch.lines,
            Err(error) => {
                self.torn |= written > 0 && batch.bytes.get(written - 1) != Some(&b'\n');
                self.complain(error);
                batch.bytes[..written].iter().filter(|byte| **byte == b'\n').count() as u64
            }
        };
        self.shared.metrics.written.inc_by(whole);
        if result.is_err() {
            self.shared.lose(batch.lines - whole);
        } else {
            self.sum_up();
        }
    }

    /// The first trouble of a spell is told.
    fn complain(&mut self, error: &io::Error) {
        if !std::mem::replace(&mut self.troubled, true) {
            tracing::warn!(to = %self.target, %error, "the access log takes no lines; they are lost, and counted");
        }
    }

    fn sum_up(&mut self) {
        self.troubled = false;
        let lost = self.shared.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            tracing::warn!(lines = lost, "the access log takes lines again; so many were lost");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(to: &LogTarget) -> Lines {
        Lines::start(to, 2, AccessLogMetrics::default()).expect("a thread")
    }

    #[test]
    fn what_was_said_is_written_before_the_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.log");
        let lines = lines(&LogTarget::File(path.clone()));
        for number in 0..1_000 {
            lines.add(number % 2, |line| line.extend_from_slice(b"line\n"));
        }
        lines.close(Duration::from_secs(20));
        assert_eq!(std::fs::read_to_string(&path).expect("a file"), "line\n".repeat(1_000));
        assert_eq!(lines.shared.metrics.written.get(), 1_000);
        assert_eq!(lines.shared.metrics.lost.get(), 0);
    }

    #[test]
    fn a_full_disk_costs_lines_and_no_more() {
        let lines = lines(&LogTarget::File("/dev/full".into()));
        for _ in 0..10 {
            lines.add(0, |line| line.extend_from_slice(b"line\n"));
        }
        lines.close(Duration::from_secs(20));
        assert_eq!(lines.shared.metrics.lost.get(), 10);
    }

    #[test]
    fn a_stuck_reader_costs_lines_and_no_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        let made =
            std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo is there");
        assert!(made.success());
        // Opening it waits for a reader, who never comes.
        let lines = lines(&LogTarget::File(path));
        let line = [b'x'; 1023];
        for _ in 0..3 * ROOM / 1024 {
            lines.add(0, |buffer| {
                buffer.extend_from_slice(&line);
                buffer.push(b'\n');
            });
        }
        assert!(lines.shared.metrics.lost.get() >= (ROOM / 1024) as u64);
    }
}
