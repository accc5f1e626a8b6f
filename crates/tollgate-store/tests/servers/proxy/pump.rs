//! One connection through the proxy.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::super::commands::Commands;
use super::{Fault, State};

/// Which way bytes go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    ToServer,
    Back,
}

/// Counts a connection for as long as it is open.
struct Open(Arc<State>);

impl Open {
    fn count(state: Arc<State>) -> Open {
        let mut seen = state.seen.lock().expect("what was seen");
        seen.open += 1;
        seen.taken += 1;
        seen.most_open = seen.most_open.max(seen.open);
        drop(seen);
        Open(state)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.seen.lock().expect("what was seen").open -= 1;
    }
}

/// Carries a connection until either side, or the fault, ends it.
pub(super) async fn carry(mut client: TcpStream, state: Arc<State>) {
    let _open = Open::count(Arc::clone(&state));
    // What ends here is reset rather than closed in order.
    let _ = client.set_zero_linger();
    let mut fault = state.fault.subscribe();
    let target = *state.target.lock().expect("a target");
    let connected = TcpStream::connect(target).await;
    let Ok(mut server) = connected else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (client_reads, client_writes) = client.split();
    let (server_reads, server_writes) = server.split();
    tokio::select! {
        () = pump(client_reads, server_writes, Way::ToServer, &state) => {}
        () = pump(server_reads, client_writes, Way::Back, &state) => {}
        _ = fault.wait_for(|fault| matches!(fault, Fault::Reset | Fault::Refuse)) => {}
    }
}

/// Carries bytes one way. They wait in a queue for their time, so that a delay costs no throughput.
async fn pump(
    reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
    way: Way,
    state: &State,
) {
    let (sender, mut queue) = mpsc::channel::<(Instant, Vec<u8>)>(1024);
    let deliver = async {
        while let Some((due, bytes)) = queue.recv().await {
            tokio::time::sleep_until(due).await;
            if writer.write_all(&bytes).await.is_err() {
                break;
            }
        }
    };
    tokio::select! {
        () = collect(reader, sender, way, state) => {}
        () = deliver => {}
    }
}

async fn collect(
    mut reader: impl AsyncRead + Unpin,
    queue: mpsc::Sender<(Instant, Vec<u8>)>,
    way: Way,
    state: &State,
) {
    let fault: watch::Receiver<Fault> = state.fault.subscribe();
    let mut commands = Commands::default();
    let mut passed = 0;
    // What TCP has lost it has lost for good: a connection that swallowed a byte carries none after it.
    let mut black = false;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let length = match reader.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(length) => length,
        };
        let bytes = &buffer[..length];
        let fault = *fault.borrow();
        let mut due = Instant::now();
        match fault {
            Fault::Swallow => black = true,
            Fault::DropReplies if way == Way::Back => black = true,
            Fault::Delay(delay) => due += delay,
            _ => {}
        }
        if black {
            continue;
        }
        if way == Way::ToServer {
            passed += length;
            commands.take(bytes, &mut state.seen.lock().expect("what was seen").commands);
        }
        let cut = matches!(fault, Fault::CutAfter(most) if passed >= most);
        if queue.send((due, bytes.to_vec())).await.is_err() || cut {
            return;
        }
    }
}
