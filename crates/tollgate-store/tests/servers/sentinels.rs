//! A primary, its replica, and three sentinels that watch them.

use std::path::Path;

use super::{Program, Server, until};

/// What the sentinels call the primary.
const NAME: &str = "main";

/// Servers of one test with their sentinels, until they are dropped.
#[derive(Debug)]
pub(crate) struct Sentinels {
    /// The first primary, then its replica.
    pub(crate) servers: Vec<Server>,
    pub(crate) sentinels: Vec<Server>,
}

impl Sentinels {
    /// A primary and a replica that follows it, with sentinels that notice within half a second that it is gone.
    pub(crate) fn start(program: &Program) -> Sentinels {
        let primary = Server::with(program, &["--repl-diskless-sync-delay", "0"]);
        let port = primary.port().to_string();
        let replica = Server::with(
            program,
            &["--replicaof", &format!("127.0.0.1 {port}"), "--repl-diskless-sync-delay", "0"],
        );
        until("the replica follows", || {
            replica.run::<String>(&["INFO"]).contains("link_status:up")
        });
        let sentinels: Vec<Server> = (0..3)
            .map(|_| {
                Server::made(program, |own, folder| {
                    vec![configuration(own, folder, &port), "--sentinel".to_owned()]
                })
            })
            .collect();
        let knows_all = |sentinel: &Server| {
            let known: String = sentinel.run(&["INFO", "sentinel"]);
            known.contains("slaves=1,sentinels=3")
        };
        until("the sentinels know each other", || sentinels.iter().all(knows_all));
        Sentinels { servers: vec![primary, replica], sentinels }
    }

    pub(crate) fn url(&self) -> String {
        let addresses: Vec<String> =
            self.sentinels.iter().map(|sentinel| sentinel.address().to_string()).collect();
        format!("redis+sentinel://{}/{NAME}", addresses.join(","))
    }

    /// Has the sentinels make the replica the primary, while the old one is alive.
    pub(crate) fn fail_over(&self) {
        let _: String = self.sentinels[0].run(&["SENTINEL", "FAILOVER", NAME]);
    }

    /// The place of the server that the sentinels call the primary.
    pub(crate) fn primary(&self) -> usize {
        let address: (String, u16) =
            self.sentinels[0].run(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME]);
        self.servers.iter().position(|server| server.port() == address.1).expect("one of them")
    }
}

/// Writes a sentinel's file and says where it is.
fn configuration(own: u16, folder: &Path, primary: &str) -> String {
    let path = folder.join("sentinel.conf");
    let text = format!(
        "port {own}\nbind 127.0.0.1\ndir {}\nloglevel warning\n\
         sentinel monitor {NAME} 127.0.0.1 {primary} 2\n\
         sentinel down-after-milliseconds {NAME} 500\n\
         sentinel failover-timeout {NAME} 2000\n",
        folder.display()
    );
    std::fs::write(&path, text).expect("a configuration");
    path.to_string_lossy().into_owned()
}
