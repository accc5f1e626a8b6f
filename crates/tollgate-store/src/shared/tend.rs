//! What a node does beside its decisions, for as long as it is there.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::Node;
use super::lease::Purse;
use super::membership;
use super::remote::Remote;

/// How often it is looked whether something is to be reported or reconciled.
const LOOK: Duration = Duration::from_millis(10);

/// All leases are looked at in a quarter of a second, so many parts at a time.
const PARTS_AT_A_TIME: usize = 8;
const PART_OF_A_ROUND: Duration = Duration::from_millis(31);

/// Begins the tasks beside the decisions; they end when the node is gone.
pub(super) fn tend<R: Remote>(node: &Arc<Node<R>>) {
    node.remote.spawn(beat(Arc::downgrade(node)));
    node.remote.spawn(report(Arc::downgrade(node)));
    node.remote.spawn(reconcile(Arc::downgrade(node)));
    node.remote.spawn(tidy_leases(Arc::downgrade(node)));
}

async fn beat<R: Remote>(node: Weak<Node<R>>) {
    // That the first connection is not there yet is no failure of the store's.
    if let Some(node) = node.upgrade() {
        node.remote.connected(membership::EVERY).await;
    }
    while let Some(node) = node.upgrade() {
        if let Some(nodes) = node.hear().await
            && nodes != node.limits.load().nodes
        {
            // What all keys of all limits counted is gone through, which must not hold up the connections.
            tokio::task::spawn_blocking(move || node.set_nodes(nodes, node.now()));
        } else {
            drop(node);
        }
        tokio::time::sleep(membership::EVERY).await;
    }
}

async fn report<R: Remote>(node: Weak<Node<R>>) {
    let mut next = HashMap::new();
    while let Some(node) = node.upgrade() {
        for held in node.due(&mut next, node.now()) {
            node.report(&held).await;
        }
        drop(node);
        tokio::time::sleep(LOOK).await;
    }
}

async fn reconcile<R: Remote>(node: Weak<Node<R>>) {
    while let Some(node) = node.upgrade() {
        node.reconcile().await;
        drop(node);
        tokio::time::sleep(LOOK).await;
    }
}

async fn tidy_leases<R: Remote>(node: Weak<Node<R>>) {
    let mut parts = (0..Purse::parts()).cycle();
    while let Some(node) = node.upgrade() {
        for part in parts.by_ref().take(PARTS_AT_A_TIME) {
            node.tidy_leases(part).await;
        }
        drop(node);
        tokio::time::sleep(PART_OF_A_ROUND).await;
    }
}
