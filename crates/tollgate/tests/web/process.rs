//! A command that runs beside the test, and ends with it.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// Nothing takes longer unless it hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// A command that runs.
pub(crate) struct Running {
    child: Child,
    said: Arc<Mutex<String>>,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Running {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let said = Arc::<Mutex<String>>::default();
        listen(child.stdout.take().expect("a pipe"), &said);
        listen(child.stderr.take().expect("a pipe"), &said);
        Running { child, said }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// All that it said so far, on both streams.
    pub(crate) fn said(&self) -> String {
        self.said.lock().expect("no panic").clone()
    }

    /// Waits for a line with `part` in it, and answers with the first.
    #[track_caller]
    pub(crate) fn says(&self, part: &str) -> String {
        let mut found = None;
        until(|| {
            found = self.said().lines().find(|line| line.contains(part)).map(str::to_owned);
            found.is_some()
        })
        .unwrap_or_else(|()| panic!("it did not say {part:?}:\n{}", self.said()));
        found.unwrap_or_default()
    }

    /// Where its gateway listens, from the line that says so.
    #[track_caller]
    pub(crate) fn gateway(&self) -> SocketAddr {
        self.address("gateway=")
    }

    /// Where it tells of its health, from the same line.
    #[track_caller]
    pub(crate) fn admin(&self) -> SocketAddr {
        self.address("admin=")
    }

    /// Where its listener `name` is, of several.
    #[track_caller]
    pub(crate) fn listener(&self, name: &str) -> SocketAddr {
        self.address(&format!("{name}="))
    }

    #[track_caller]
    fn address(&self, field: &str) -> SocketAddr {
        let line = self.says("serving ");
        let address = line.split(field).nth(1).and_then(|rest| rest.split(' ').next());
        address.and_then(|address| address.parse().ok()).expect("an address")
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.id().to_string();
        // It may have ended.
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status();
        sent.expect("kill is there");
    }

    /// How it ended, if it has.
    pub(crate) fn try_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("it can be waited for")
    }

    /// Waits until it has ended.
    #[track_caller]
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let mut status = None;
        until(|| {
            status = self.try_ended();
            status.is_some()
        })
        .unwrap_or_else(|()| panic!("it did not end:\n{}", self.said()));
        status.expect("it ended")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Adds each line that comes from `stream` to `said`.
fn listen(stream: impl Read + Send + 'static, said: &Arc<Mutex<String>>) {
    let said = Arc::clone(said);
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let mut said = said.lock().expect("no panic");
            said.push_str(&line);
            said.push('\n');
        }
    });
}

/// Waits until `condition` holds.
pub(crate) fn until(mut condition: impl FnMut() -> bool) -> Result<(), ()> {
    let begun = SystemTime::now();
    while !condition() {
        if begun.elapsed().unwrap_or_default() > PATIENCE {
            return Err(());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
