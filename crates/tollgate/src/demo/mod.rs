//! `tollgate demo`: a small service, the gateway before it with the layered example policy, customers who send through it,
//! and a live table that shows who passes and who is refused.

mod customers;
mod policy;
mod table;
mod traffic;
mod upstream;

use std::io::{self, IsTerminal};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tollgate_server::{Options, Started, serve_until};

use customers::Customer;
use policy::PolicyCopy;
use table::Table;

/// How often the table is redrawn: often on a terminal, seldom where every drawing is a new line.
const REDRAWN: [Duration; 2] = [Duration::from_secs(5), Duration::from_millis(250)];

/// Runs the demo until Ctrl-C, or for `seconds`.
///
/// # Errors
/// A sentence that says what could not be started.
pub(crate) fn demo(seconds: Option<u64>) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime can be started: {error}"))?;
    runtime.block_on(play(seconds))
}

async fn play(seconds: Option<u64>) -> Result<(), String> {
    let upstream = upstream::start().await.map_err(|error| format!("the demo's service cannot listen: {error}"))?;
    let policy = PolicyCopy::write(upstream).map_err(|error| format!("the demo's policy cannot be written: {error}"))?;
    let options = Options {
        listen: Some(preferred_or_free(8080)),
        admin: Some(preferred_or_free(8090)),
        ..Options::default()
    };
    let (stop, stopped) = oneshot::channel::<()>();
    let (started, begun) = oneshot::channel();
    let gateway = serve_until(
        policy.path(),
        &options,
        async { drop(stopped.await) },
        // The receiver is there as long as this function waits.
        |addresses| drop(started.send(addresses)),
    );
    let show = async {
        if let Ok(addresses) = begun.await {
            perform(addresses, &policy, seconds).await;
        }
        drop(stop);
    };
    let (ended, ()) = tokio::join!(gateway, show);
    ended.map_err(|error| error.to_string())
}

/// Sends the traffic and shows the table, until the end.
async fn perform(addresses: Started, policy: &PolicyCopy, seconds: Option<u64>) {
    introduce(addresses, policy);
    let terminal = io::stdout().is_terminal();
    let customers: Vec<Arc<Customer>> = customers::cast().into_iter().map(Arc::new).collect();
    let mut sending = JoinSet::new();
    for customer in &customers {
        sending.spawn(traffic::send(Arc::clone(customer), addresses.gateway));
    }
    let table = Table::new(customers, terminal);
    let redraw = async {
        let mut pace = interval(REDRAWN[usize::from(terminal)]);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            pace.tick().await;
            table.show();
        }
    };
    tokio::select! {
        () = redraw => {}
        () = end(seconds) => {}
    }
    sending.shutdown().await;
    table.finish();
    println!("\nThe free flood met his own limit; nobody else was refused because of him.");
}

/// Ctrl-C, or the time that was asked for.
async fn end(seconds: Option<u64>) {
    let time = async {
        match seconds {
            Some(seconds) => sleep(Duration::from_secs(seconds)).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = time => {}
        _ = tokio::signal::ctrl_c() => {}
    }
}

fn introduce(Started { gateway, admin }: Started, policy: &PolicyCopy) {
    println!("A gateway with three layers of limits is running. Try it from another terminal:\n");
    println!("  curl -i -X POST http://{gateway}/v1/chat -H 'x-api-key: demo-paid'    # passes");
    println!("  curl -i -X POST http://{gateway}/v1/chat -H 'x-api-key: demo-free'    # ada's key: 429, once her flood is over its limit");
    if let Some(admin) = admin {
        println!("  curl http://{admin}/metrics                                           # what operators see");
    }
    println!("\nIts policy is {}: change it and see it reload. Ctrl-C ends the demo.\n", policy.path().display());
}

/// `port` on loopback where it is free, else any.
fn preferred_or_free(port: u16) -> SocketAddr {
    let preferred = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    if TcpListener::bind(preferred).is_ok() { preferred } else { SocketAddr::from((Ipv4Addr::LOCALHOST, 0)) }
}
