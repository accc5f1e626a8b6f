//! Following the policy's files: on SIGHUP and when they change. A policy that is wrong changes nothing but the log.

mod trail;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tollgate_policy::settings::{ListenAt, Settings};
use tollgate_policy::{Mode, Policy};
use tollgate_store::{Clock, SystemClock};

use crate::ServeError;
use crate::descriptors;
use crate::policy_file::PolicyFile;
use crate::server::Handle;
use crate::systemd::Supervisor;
use watch::Watch;

/// Files are read once nothing has happened to them for this long: an editor writes, renames and sets rights in one go.
const SETTLED: Duration = Duration::from_millis(100);

/// Follows one policy file and what belongs to it.
pub(crate) struct Follower {
    pub(crate) file: PolicyFile,
    pub(crate) server: Handle,
    /// The command line's word, which goes before the policy's own.
    pub(crate) mode: Option<Mode>,
    /// The text that was read last, right or wrong.
    pub(crate) text: String,
    /// Is told of a reload that somebody asked for.
    pub(crate) supervisor: Arc<Supervisor>,
}

/// Why to look at the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Something happened to one of them.
    Changed,
    /// Somebody asked for it.
    Asked,
}

impl Follower {
    /// Follows the files, and `asked` for a reload besides, until `asked` has no sender any more.
    pub(crate) async fn run(mut self, mut asked: mpsc::Receiver<()>) {
        let (changed, mut changes) = mpsc::channel(1);
        let mut watch = self.watch(&changed);
        // What changed between the first reading and the watch.
        self.look(Cause::Changed);
        loop {
            let cause = tokio::select! {
                asked = asked.recv() => match asked {
                    Some(()) => Cause::Asked,
                    None => return,
                },
                _ = changes.recv() => Cause::Changed,
            };
            if cause == Cause::Changed {
                settle(&mut changes).await;
            }
            // Links and folders may be others than before. Made before the look, so that nothing falls in between.
            drop(watch);
            watch = self.watch(&changed);
            let before = self.sources();
            self.look_as_asked(cause);
            if self.sources() != before {
                watch = self.watch(&changed);
                // What happened to a new one before it was watched.
                self.look(Cause::Changed);
            }
        }
    }

    /// A service manager that asked wants to know when the reload is done, however it went.
    fn look_as_asked(&mut self, cause: Cause) {
        if cause == Cause::Changed {
            return self.look(cause);
        }
        self.supervisor.reloading();
        self.look(cause);
        self.supervisor.ready("serving");
    }

    fn watch(&self, changed: &mpsc::Sender<()>) -> Watch {
        Watch::new(&self.sources(), changed.clone())
    }

    fn sources(&self) -> Vec<PathBuf> {
        self.file.sources(self.server.policy().settings())
    }

    /// Reads the policy again where its text changed or somebody asked, else the files that it looks things up in.
    fn look(&mut self, cause: Cause) {
        let text = match self.file.text() {
            Ok(text) => text,
            Err(error) => return self.keep(&error),
        };
        if cause == Cause::Changed && text == self.text {
            return self.refresh();
        }
        self.text = text;
        match self.file.compile(&self.text, SystemClock::new().now()) {
            Ok(policy) => self.take(policy),
            Err(error) => self.keep(&error),
        }
    }

    fn take(&self, policy: Policy) {
        let (old, new) = (self.server.policy(), policy.settings().clone());
        if places(old.settings()) != places(&new) || old.settings().admin != new.admin {
            tracing::warn!(
                "where the policy listens (`listen`, `listeners`, `admin`) changed: it takes effect at a restart"
            );
        }
        descriptors::provide(&new);
        if old.settings().store != new.store {
            tracing::warn!("the policy's `store` changed: it takes effect at a restart");
        }
        let version = self.server.reload(policy, self.mode.unwrap_or(new.mode));
        tracing::info!(version, "the policy was reloaded");
    }

    /// Whoever sees one line of the log sees what is wrong first; all of it follows.
    fn keep(&self, error: &ServeError) {
        self.server.refresh_certificates();
        self.server.reload_failed();
        let version = self.server.policy().version();
        let (line, all) = (error.in_one_line(), error.to_string());
        let rest = if all == line { String::new() } else { format!("\n{all}") };
        tracing::error!(
            version,
            "the policy was not reloaded, the one before stays in force: {line}{rest}"
        );
    }

    fn refresh(&self) {
        self.server.refresh_certificates();
        match self.server.policy().refresh() {
            Ok(true) => tracing::info!("tables or keys were read again"),
            Ok(false) => {}
            Err(problems) => {
                self.server.reload_failed();
                let problems = problems.join("\n");
                tracing::error!(
                    "tables or keys were not read again, what was read before stays in force: {problems}"
                );
            }
        }
    }
}

/// Which listeners there are, where, and what is spoken there.
fn places(settings: &Settings) -> Vec<(&str, &ListenAt, bool, bool)> {
    let listeners = settings.listeners.iter();
    listeners.map(|one| (&*one.name, &one.at, one.tls.is_some(), one.http2)).collect()
}

/// Ends when nothing has come for a while.
async fn settle(changes: &mut mpsc::Receiver<()>) {
    while let Ok(Some(())) = tokio::time::timeout(SETTLED, changes.recv()).await {}
}
