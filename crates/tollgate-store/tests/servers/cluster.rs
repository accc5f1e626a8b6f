//! A cluster of three primaries and three replicas.

use super::server::spare_port;
use super::{Program, Server, until};

/// Slots of a cluster.
const SLOTS: u32 = 16_384;

/// Primaries, and as many replicas.
const PRIMARIES: usize = 3;

/// A cluster of one test, until it is dropped.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// Three primaries, then the replica of each.
    pub(crate) nodes: Vec<Server>,
}

impl Cluster {
    /// Six nodes that know each other and serve every slot. A primary that is gone for half a second is replaced.
    pub(crate) fn start(program: &Program) -> Cluster {
        let mut cluster = Cluster { nodes: Vec::new() };
        for _ in 0..2 * PRIMARIES {
            cluster.add_node(program);
        }
        let primaries = u32::try_from(PRIMARIES).expect("a few");
        for (place, node) in (0_u32..).zip(&cluster.nodes) {
            let _: String = node.run(&["CLUSTER", "SET-CONFIG-EPOCH", &(place + 1).to_string()]);
            if place < primaries {
                let first = (SLOTS * place / primaries).to_string();
                let last = (SLOTS * (place + 1) / primaries - 1).to_string();
                let _: String = node.run(&["CLUSTER", "ADDSLOTSRANGE", &first, &last]);
            }
        }
        cluster.introduce();
        for place in 0..PRIMARIES {
            let primary = cluster.id(place);
            let _: String =
                cluster.nodes[PRIMARIES + place].run(&["CLUSTER", "REPLICATE", &primary]);
        }
        cluster.wait_until_well();
        cluster
    }

    /// Starts one more node, which nobody knows yet.
    pub(crate) fn add_node(&mut self, program: &Program) -> usize {
        let node = Server::made(program, |_, _| {
            let bus = spare_port().to_string();
            ["--cluster-enabled", "yes", "--cluster-port", &bus, "--cluster-node-timeout", "1000"]
                .into_iter()
                // Replicas are empty at first and must do all the same.
                .chain([
                    "--cluster-replica-validity-factor",
                    "0",
                    "--repl-diskless-sync-delay",
                    "0",
                ])
                .map(str::to_owned)
                .collect()
        });
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Makes every node known to the first, and so to all.
    pub(crate) fn introduce(&self) {
        let first = self.nodes[0].port().to_string();
        let bus: Vec<String> = self.nodes[0].run(&["CONFIG", "GET", "cluster-port"]);
        for node in &self.nodes[1..] {
            let _: String = node.run(&["CLUSTER", "MEET", "127.0.0.1", &first, &bus[1]]);
        }
        let all = self.nodes.len().to_string();
        self.until_every_node("the nodes know each other", |info| {
            line(info, "cluster_known_nodes") == Some(&all)
        });
    }

    /// Waits until every node sees every slot served and every replica follows its primary.
    pub(crate) fn wait_until_well(&self) {
        self.until_every_node("the cluster serves all slots", |info| {
            line(info, "cluster_state") == Some("ok")
        });
        until("the replicas follow", || {
            let following = |node: &Server| {
                let role: Vec<redis::Value> = node.run(&["ROLE"]);
                let is_connected = redis::Value::BulkString(b"connected".to_vec());
                role.first() != Some(&redis::Value::BulkString(b"slave".to_vec()))
                    || role.get(3) == Some(&is_connected)
            };
            self.nodes.iter().all(following)
        });
    }

    fn until_every_node(&self, what: &str, holds: impl Fn(&str) -> bool) {
        until(what, || {
            self.nodes.iter().all(|node| holds(&node.run::<String>(&["CLUSTER", "INFO"])))
        });
    }

    /// The nodes that hold slots, by their places.
    pub(crate) fn primaries(&self) -> Vec<usize> {
        let is_primary = |place: &usize| {
            let info = self.nodes[*place].try_run::<String>(&["INFO", "replication"]);
            info.is_ok_and(|info| info.contains("role:master"))
        };
        (0..self.nodes.len()).filter(is_primary).collect()
    }

    /// Fails where a key would stay for ever.
    #[track_caller]
    pub(crate) fn assert_every_key_expires(&self) {
        self.primaries().into_iter().for_each(|place| self.nodes[place].assert_every_key_expires());
    }

    /// The id of a node.
    pub(crate) fn id(&self, node: usize) -> String {
        self.nodes[node].run(&["CLUSTER", "MYID"])
    }

    /// The primary that holds `slot`, as its place among the nodes.
    pub(crate) fn owner(&self, slot: u16) -> usize {
        let ranges: Vec<(u16, u16, redis::Value)> = redis::cmd("CLUSTER")
            .arg("SLOTS")
            .query::<Vec<Vec<redis::Value>>>(&mut self.nodes[0].client().expect("a connection"))
            .expect("slots")
            .into_iter()
            .filter_map(|range| match &range[..] {
                [redis::Value::Int(first), redis::Value::Int(last), primary, ..] => {
                    Some((u16::try_from(*first).ok()?, u16::try_from(*last).ok()?, primary.clone()))
                }
                _ => None,
            })
            .collect();
        let range = ranges.iter().find(|range| range.0 <= slot && slot <= range.1);
        let redis::Value::Array(primary) = &range.expect("an owner").2 else { panic!("a primary") };
        self.nodes
            .iter()
            .position(|node| primary.get(1) == Some(&redis::Value::Int(i64::from(node.port()))))
            .expect("one of the nodes")
    }

    /// Moves a slot with its keys from one node to another, as resharding does; `between` runs while it is on its way,
    /// before any key has moved.
    pub(crate) fn migrate(&self, slot: u16, from: usize, to: usize, between: impl FnOnce()) {
        let slot = slot.to_string();
        let (from_id, to_id) = (self.id(from), self.id(to));
        let (source, target) = (&self.nodes[from], &self.nodes[to]);
        let _: String = target.run(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &from_id]);
        let _: String = source.run(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &to_id]);
        between();
        let port = target.port().to_string();
        loop {
            let keys: Vec<String> = source.run(&["CLUSTER", "GETKEYSINSLOT", &slot, "1"]);
            let Some(key) = keys.first() else { break };
            let _: String = source.run(&["MIGRATE", "127.0.0.1", &port, key, "0", "5000"]);
        }
        for node in [target, source] {
            let _: String = node.run(&["CLUSTER", "SETSLOT", &slot, "NODE", &to_id]);
        }
    }

    /// A URL that names two of the nodes.
    pub(crate) fn url(&self) -> String {
        format!("redis+cluster://{},{}", self.nodes[0].address(), self.nodes[1].address())
    }
}

fn line<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}
