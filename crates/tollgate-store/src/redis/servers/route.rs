//! From a slot to the server that holds it, and what to do when it does not.

use std::path::Path;
use std::sync::Arc;

use redis::Value;

use super::Shared;
use super::deadline::Deadline;
use super::dial::Login;
use super::failure::Refusal;
use super::message::{Form, Message};
use super::node::Node;
use crate::Trouble;
use crate::redis::{Endpoint, RedisOptions, Topology};

/// The servers behind the options' topology.
#[derive(Debug)]
pub(super) enum Route {
    /// One server for everything.
    Single(Arc<Node>),
}

impl Route {
    pub(super) fn start(options: &RedisOptions, shared: &Arc<Shared>) -> Route {
        let login = Login {
            credentials: options.credentials.clone(),
            database: options.database,
            primary: true,
        };
        match &options.topology {
            Topology::Single(endpoint) => {
                Route::Single(Node::start(endpoint.clone(), &login, shared))
            }
            Topology::Sentinel { sentinels: seeds, .. } | Topology::Cluster { seeds } => {
                let seed = seeds.first().cloned().unwrap_or(Endpoint::Unix(Path::new("").into()));
                Route::Single(Node::start(seed, &login, shared))
            }
        }
    }

    pub(super) fn has_slots(&self) -> bool {
        false
    }

    pub(super) async fn ready(&self, shared: &Shared, deadline: Deadline) -> Result<(), Trouble> {
        match self {
            Route::Single(node) => node.ready(shared, deadline).await,
        }
    }

    /// Sends `message` to the server of `slot`, and again where a server says that it did not execute it.
    pub(super) async fn deliver(
        &self,
        shared: &Shared,
        deadline: Deadline,
        _slot: u16,
        message: &Message<'_>,
    ) -> Result<Value, Trouble> {
        let Route::Single(node) = self;
        let mut form = Form::default();
        loop {
            let value = node.send(message.pack(form), deadline, shared).await?;
            let Value::ServerError(error) = &value else { return Ok(value) };
            match Refusal::of(error) {
                Refusal::UnknownScript if message.has_text() && !form.with_text => {
                    shared.counts.scripts_sent.add();
                    form.with_text = true;
                }
                Refusal::Trouble(trouble) => return Err(trouble),
                _ => return Err(Trouble::Unexpected),
            }
        }
    }
}
