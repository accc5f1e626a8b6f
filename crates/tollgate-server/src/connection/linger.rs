//! Closing softly. A socket that is closed with unread bytes sends a reset, and a reset may overtake the answer that was
//! just written; so the rest is read away for a while, as raw bytes that nobody parses.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use super::{Socket, Stream, refusals};

/// How long a connection lingers, and with how much.
struct Bounds {
    longest: Duration,
    /// The longest silence in it.
    silence: Duration,
    /// The most bytes that are read away.
    most: usize,
}

/// After an answer that left a body unread.
const UNREAD: Bounds = Bounds {
    longest: Duration::from_secs(10),
    silence: Duration::from_secs(2),
    most: 64 * 1024 * 1024,
};

/// For a connection that there was no place for.
const TURNED_AWAY: Bounds =
    Bounds { longest: Duration::from_secs(2), silence: Duration::from_secs(1), most: 1024 * 1024 };

/// Reads away what still comes, until the client closes, falls silent, or sends too much for too long.
pub(super) async fn read_away(socket: &Socket) {
    UNREAD.read_away(socket.clone()).await;
}

/// Tells a client that its header took too long.
pub(super) fn too_slow(socket: &Socket) {
    socket.last_words(&refusals::too_slow(socket.now()));
}

/// Lets a client read that there is no place for it, though it may have sent a request already.
pub(crate) async fn see_off(mut stream: Stream) {
    if stream.shutdown().await.is_ok() {
        TURNED_AWAY.read_away(stream).await;
    }
}

impl Bounds {
    async fn read_away(&self, mut from: impl AsyncRead + Unpin) {
        let reading = async {
            let mut buffer = vec![0; 16 * 1024];
            let mut left = self.most;
            while let Ok(Ok(read @ 1..)) =
                tokio::time::timeout(self.silence, from.read(&mut buffer)).await
            {
                match left.checked_sub(read) {
                    Some(rest) => left = rest,
                    None => return,
                }
            }
        };
        let _ = tokio::time::timeout(self.longest, reading).await;
    }
}
