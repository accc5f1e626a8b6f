//! `tollgate demo`: a small service, the gateway before it with the layered example policy, customers who send through it,
//! and a live table that shows who passes and who is refused.

mod customers;
mod end;
mod notices;
mod policy;
mod table;
mod traffic;
mod upstream;

use std::io::{self, IsTerminal};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};
use tollgate_server::{Options, ServeError, Started, serve_until};

use crate::outcome::{Failure, print};
use customers::Customer;
use end::End;
use notices::Notices;
use policy::PolicyCopy;
use table::Table;

/// How often the table is redrawn: often on a terminal, seldom where every drawing is a new line.
const REDRAWN: [Duration; 2] = [Duration::from_secs(5), Duration::from_millis(250)];

/// Runs the demo until Ctrl-C or another signal to end, or for `seconds`.
///
/// # Errors
/// [`Failure`] that says what could not be started.
pub(crate) fn run(seconds: Option<u64>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::wrong(format!("no runtime can be started: {error}")))?;
    runtime.block_on(play(seconds))
}

async fn play(seconds: Option<u64>) -> Result<(), Failure> {
    // Before there is anything to clear away.
    let end = End::new(seconds)
        .map_err(|error| Failure::wrong(format!("signals cannot be listened for: {error}")))?;
    let notices = Notices::listen().map_err(Failure::Wrong)?;
    let upstream = upstream::start()
        .await
        .map_err(|error| Failure::wrong(format!("the demo's service cannot listen: {error}")))?;
    let policy = PolicyCopy::write(upstream)
        .map_err(|error| Failure::wrong(format!("the demo's policy cannot be written: {error}")))?;
    let (stop, stopped) = oneshot::channel::<()>();
    let (started, begun) = oneshot::channel();
    let show = async {
        let shown = match begun.await {
            Ok(addresses) => perform(addresses, &policy, notices, end).await,
            // The gateway did not start, and says why itself.
            Err(_) => Ok(()),
        };
        drop(stop);
        shown
    };
    let (ended, shown) = tokio::join!(gateway(policy.path(), stopped, started), show);
    ended.map_err(Failure::wrong).and(shown)
}

/// Serves the policy at `path` until `stopped` has no sender any more: on the ports that people know where they are free, else
/// on any.
async fn gateway(
    path: &Path,
    stopped: oneshot::Receiver<()>,
    started: oneshot::Sender<Started>,
) -> Result<(), ServeError> {
    let mut until = pin!(async { drop(stopped.await) });
    let mut started = Some(started);
    let mut serve = async |[gateway, admin]: [u16; 2]| {
        let at = |port| Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let options = Options { listen: at(gateway), admin: at(admin), ..Options::default() };
        let tell = |addresses| {
            // The receiver is there as long as somebody waits for it.
            started.take().map(|started| started.send(addresses));
        };
        serve_until(path, &options, until.as_mut(), tell).await
    };
    match serve([8080, 8090].map(free)).await {
        // Somebody took one in between.
        Err(ServeError::Bind { .. }) => serve([0, 0]).await,
        ended => ended,
    }
}

/// Sends the traffic and shows the table, until the end.
async fn perform(
    addresses: Started,
    policy: &PolicyCopy,
    notices: Notices,
    end: End,
) -> Result<(), Failure> {
    let Some(gateway) = addresses.gateway() else {
        return Err(Failure::wrong("the demo's policy listens on no address"));
    };
    print(&introduction(gateway, addresses.admin, policy))?;
    let terminal = io::stdout().is_terminal();
    let customers: Vec<Arc<Customer>> = customers::cast().into_iter().map(Arc::new).collect();
    let mut sending = JoinSet::new();
    for customer in &customers {
        sending.spawn(traffic::send(Arc::clone(customer), gateway));
    }
    let table = Table::new(customers.clone(), terminal)?;
    tokio::select! {
        stuck = redraw(&table, terminal, notices) => stuck?,
        () = end.come() => {}
    }
    sending.shutdown().await;
    table.finish()?;
    print(&format!("\n{}\n", conclusion(&customers)))
}

/// What the counts show; the policy may have been edited meanwhile.
fn conclusion(customers: &[Arc<Customer>]) -> &'static str {
    let refused = |customer: &Arc<Customer>| customer.tally.count().refused > 0;
    let Some((flood, others)) = customers.split_first() else { return "Nobody sent anything." };
    match (refused(flood), others.iter().any(refused)) {
        (true, false) => "The free flood met its own limit; nobody else was refused because of it.",
        (false, false) => "Nobody was refused.",
        (_, true) => {
            "Others than the flood were refused, too: they met limits of the policy as it was."
        }
    }
}

/// Draws the table again and again, and what the gateway has to say above it, until that cannot be done.
async fn redraw(table: &Table, terminal: bool, mut notices: Notices) -> Result<(), Failure> {
    let mut pace = interval(REDRAWN[usize::from(terminal)]);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = pace.tick() => table.show()?,
            notice = notices.next() => table.say(&notice)?,
        }
    }
}

fn introduction(gateway: SocketAddr, admin: Option<SocketAddr>, policy: &PolicyCopy) -> String {
    let call = |key| format!("  curl -i -X POST http://{gateway}/v1/chat -H 'x-api-key: {key}'");
    let metrics = admin.map_or(String::new(), |admin| format!("  curl http://{admin}/metrics\n"));
    format!(
        "A gateway with three layers of limits is running. Try it from another terminal:\n\n\
         {}   # passes\n{}   # the flooded key: 429\n{metrics}\n\
         Its policy is {}: change it and see it reload. Ctrl-C ends the demo.\n\n",
        call("demo-paid"),
        call("demo-free"),
        policy.path().display(),
    )
}

/// `port` where it is free on loopback, else 0, which is any.
fn free(port: u16) -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_or(0, |_| port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conclusion_is_what_the_counts_show() {
        let customers: Vec<Arc<Customer>> = customers::cast().into_iter().map(Arc::new).collect();
        assert_eq!(conclusion(&customers), "Nobody was refused.");
        customers[0].tally.answer(429, Some(1));
        assert!(conclusion(&customers).starts_with("The free flood"));
        customers[2].tally.answer(503, Some(1));
        assert!(conclusion(&customers).starts_with("Others"));
    }
}
