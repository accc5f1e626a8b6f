//! What the gateway has to say while the table stands: its log's events, a line each, instead of a log that would run
//! through the table.

use std::fmt::{Debug, Write};

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// Lines that wait to be shown; what comes while they are full is not.
const MOST: usize = 64;

/// Where reloads tell how they went.
const RELOADS: &str = "tollgate_server::reload";

/// The lines, as they come.
#[derive(Debug)]
pub(super) struct Notices(Receiver<String>);

impl Notices {
    /// Listens to the log of this process.
    ///
    /// # Errors
    /// Where somebody else does already.
    pub(super) fn listen() -> Result<Notices, String> {
        let (sender, lines) = channel(MOST);
        tracing_subscriber::registry()
            .with(LevelFilter::INFO)
            .with(Listener(sender))
            .try_init()
            .map_err(|error| error.to_string())?;
        Ok(Notices(lines))
    }

    /// The next line; for ever where none comes.
    pub(super) async fn next(&mut self) -> String {
        match self.0.recv().await {
            Some(line) => line,
            None => std::future::pending().await,
        }
    }
}

/// Passes on what concerns a person who edits the policy, and errors.
struct Listener(Sender<String>);

impl<S: Subscriber> Layer<S> for Listener {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let (level, target) = (*event.metadata().level(), event.metadata().target());
        let concerns = target.starts_with(RELOADS) && level <= Level::INFO;
        if concerns || level == Level::ERROR {
            let mut message = Message::default();
            event.record(&mut message);
            // One that finds no room is not shown; the next one will be.
            let _ = self.0.try_send(message.first_line().to_owned());
        }
    }
}

/// An event's message.
#[derive(Default)]
struct Message(String);

impl Message {
    /// Its first line, which says what is wrong; a table has no room for more.
    fn first_line(&self) -> &str {
        self.0.lines().next().unwrap_or_default()
    }
}

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            // Writing to a string cannot fail.
            let _ = write!(self.0, "{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_concerns_an_editor_is_passed_on_a_line_each() {
        let (sender, mut lines) = channel(8);
        let subscriber = tracing_subscriber::registry().with(Listener(sender));
        tracing::subscriber::with_default(subscriber, || {
            tracing::error!(target: "tollgate_server::reload", version = 1, "it is wrong:\nand how");
            tracing::info!(target: "tollgate_server::reload", "it was reloaded");
            tracing::warn!("nothing to do with it");
            tracing::error!("worse");
        });
        let told: Vec<String> = std::iter::from_fn(|| lines.try_recv().ok()).collect();
        assert_eq!(told, ["it is wrong:", "it was reloaded", "worse"]);
    }
}
