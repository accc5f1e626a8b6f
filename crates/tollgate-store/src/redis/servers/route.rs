//! From a slot to the server that holds it, and what to do when it does not.

use std::sync::Arc;
use std::time::Duration;

use redis::Value;

use super::Shared;
use super::cluster::Cluster;
use super::deadline::Deadline;
use super::failure::{Elsewhere, Refusal};
use super::message::{Form, Message};
use super::node::Node;
use super::sentinel::Primary;
use crate::Trouble;
use crate::redis::{RedisOptions, Topology};

/// So many redirects of one call are a cluster that does not know itself.
const REDIRECTS: u32 = 5;

/// The first pause before a call is sent again that a moving slot put off; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(1);

/// The servers behind the options' topology.
#[derive(Debug)]
pub(super) enum Route {
    /// One server for everything.
    Single(Arc<Node>),
    /// The server that sentinels call the primary.
    Sentinel(Primary),
    /// A cluster's nodes, each for its slots.
    Cluster(Cluster),
}

/// A call under way.
struct Course<'a> {
    shared: &'a Shared,
    deadline: Deadline,
    slot: u16,
    node: Arc<Node>,
    form: Form,
    redirects: u32,
    pause: Duration,
}

impl Route {
    pub(super) fn start(options: &RedisOptions, shared: &Arc<Shared>) -> Route {
        match &options.topology {
            Topology::Single(endpoint) => Route::Single(Node::start(endpoint.clone(), shared)),
            Topology::Sentinel { sentinels, primary, credentials } => {
                Route::Sentinel(Primary::follow(sentinels, primary, credentials, shared))
            }
            Topology::Cluster { seeds } => Route::Cluster(Cluster::start(seeds, shared)),
        }
    }

    pub(super) fn has_slots(&self) -> bool {
        matches!(self, Route::Cluster(_))
    }

    /// Waits until a call to any slot could be sent.
    pub(super) async fn ready(&self, shared: &Shared, deadline: Deadline) -> Result<(), Trouble> {
        match self {
            Route::Single(node) => node.ready(shared, deadline).await,
            Route::Sentinel(primary) => primary.ready(shared, deadline).await,
            Route::Cluster(cluster) => cluster.ready(shared, deadline).await,
        }
    }

    /// Sends `message` to the server of `slot`, and again where a server says that it did not execute it.
    pub(super) async fn deliver(
        &self,
        shared: &Shared,
        deadline: Deadline,
        slot: u16,
        message: &Message<'_>,
    ) -> Result<Value, Trouble> {
        let node = self.node(slot).ok_or(Trouble::Disconnected)?;
        let mut course = Course {
            shared,
            deadline,
            slot,
            node,
            form: Form::default(),
            redirects: 0,
            pause: PAUSE,
        };
        loop {
            let value = course.node.send(message.pack(course.form), deadline, shared).await?;
            let Value::ServerError(error) = &value else { return Ok(value) };
            match Refusal::of(error) {
                Refusal::UnknownScript if message.has_text() && !course.form.with_text => {
                    shared.counts.scripts_sent.add();
                    course.form.with_text = true;
                }
                Refusal::Moved(elsewhere) => self.moved(&mut course, &elsewhere).await?,
                Refusal::Ask(elsewhere) => self.ask(&mut course, &elsewhere).await?,
                Refusal::Later => self.later(&mut course).await?,
                Refusal::Trouble(trouble) => {
                    self.failed(trouble);
                    return Err(trouble);
                }
                Refusal::UnknownScript => return Err(Trouble::Unexpected),
            }
        }
    }

    fn node(&self, slot: u16) -> Option<Arc<Node>> {
        match self {
            Route::Single(node) => Some(Arc::clone(node)),
            Route::Sentinel(primary) => primary.node(),
            Route::Cluster(cluster) => cluster.node(slot),
        }
    }

    async fn moved(&self, course: &mut Course<'_>, there: &Elsewhere) -> Result<(), Trouble> {
        let (cluster, endpoint) = self.redirect(course, there)?;
        course.node = cluster.moved(course.slot, endpoint);
        course.arrive(Form { asking: false, ..course.form }).await
    }

    async fn ask(&self, course: &mut Course<'_>, there: &Elsewhere) -> Result<(), Trouble> {
        let (cluster, endpoint) = self.redirect(course, there)?;
        course.node = cluster.node_at(endpoint);
        course.arrive(Form { asking: true, ..course.form }).await
    }

    fn redirect(
        &self,
        course: &mut Course<'_>,
        there: &Elsewhere,
    ) -> Result<(&Cluster, crate::redis::Endpoint), Trouble> {
        let Route::Cluster(cluster) = self else {
            tracing::warn!(
                store = %course.node.endpoint(),
                "the server is a node of a cluster; write redis+cluster:// in the store's URL"
            );
            return Err(Trouble::Unexpected);
        };
        course.shared.counts.redirects.add();
        course.redirects += 1;
        if course.redirects > REDIRECTS {
            return Err(Trouble::ClusterDown);
        }
        let endpoint = there.endpoint(course.node.endpoint()).ok_or(Trouble::Unexpected)?;
        Ok((cluster, endpoint))
    }

    /// Waits a little, then begins again where the slot is by now.
    async fn later(&self, course: &mut Course<'_>) -> Result<(), Trouble> {
        if course.deadline.remaining() <= course.pause {
            return Err(Trouble::ClusterDown);
        }
        course.shared.sleep(course.pause).await;
        course.pause *= 2;
        course.form.asking = false;
        course.node = self.node(course.slot).ok_or(Trouble::Disconnected)?;
        Ok(())
    }

    /// Looks for other servers where a failure says that these are the wrong ones.
    fn failed(&self, trouble: Trouble) {
        if matches!(trouble, Trouble::ReadOnly | Trouble::ClusterDown) {
            match self {
                Route::Single(_) => {}
                Route::Sentinel(primary) => primary.doubt(),
                Route::Cluster(cluster) => cluster.doubt(),
            }
        }
    }
}

impl Course<'_> {
    /// Waits for a connection to a node that was just heard of.
    async fn arrive(&mut self, form: Form) -> Result<(), Trouble> {
        self.form = form;
        if self.node.is_up() { Ok(()) } else { self.node.ready(self.shared, self.deadline).await }
    }
}
