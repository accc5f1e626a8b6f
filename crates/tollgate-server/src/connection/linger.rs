//! Closing softly. A socket that is closed with unread bytes sends a reset, and a reset may overtake the answer that was
//! just written; so the rest is read away for a while, as raw bytes that nobody parses.

use std::time::Duration;

use tokio::io::AsyncReadExt;

use super::{Socket, refusals};

/// The longest that a connection lingers.
const LONGEST: Duration = Duration::from_secs(10);

/// The longest silence in it.
const SILENCE: Duration = Duration::from_secs(2);

/// The most that is read away.
const MOST: usize = 64 * 1024 * 1024;

/// Reads away what still comes, until the client closes, falls silent, or sends too much for too long.
pub(super) async fn read_away(socket: &Socket) {
    let mut socket = socket.clone();
    let reading = async {
        let mut buffer = vec![0; 16 * 1024];
        let mut left = MOST;
        while let Ok(Ok(read @ 1..)) = tokio::time::timeout(SILENCE, socket.read(&mut buffer)).await
        {
            match left.checked_sub(read) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    };
    let _ = tokio::time::timeout(LONGEST, reading).await;
}

/// Tells a client that its header took too long.
pub(super) fn too_slow(socket: &Socket) {
    socket.last_words(&refusals::too_slow());
}
