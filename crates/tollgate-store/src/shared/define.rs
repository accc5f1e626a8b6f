//! A set of limits follows another, and a number of nodes another.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tollgate_core::Timestamp;

use super::Node;
use super::limits::{Held, Limits, Nodes, pace_of, refuser};
use super::remote::Remote;
use crate::{Definition, LimitId, Store, SyncMode};

/// One limit of the set to come.
struct Next {
    definition: Definition,
    remote: Option<LimitId>,
    gives_back: Arc<AtomicBool>,
    retired: bool,
}

impl<R: Remote> Node<R> {
    /// [`Store::define`](crate::Store::define).
    pub(super) fn follow_definitions(
        self: &Arc<Self>,
        definitions: &[Definition],
        now: Timestamp,
    ) -> Vec<LimitId> {
        let now = self.shared_time(now);
        let _one_at_a_time = self.defining.lock();
        let nodes = self.limits.load().nodes;
        let counted = |definition: &&Definition| {
            !matches!(definition.sharing.sync, SyncMode::Node | SyncMode::Share)
        };
        let shared: Vec<Definition> = definitions.iter().filter(counted).cloned().collect();
        let mut remotes = self.remote.define(&shared, now).into_iter();
        let next = definitions.iter().map(|definition| Next {
            definition: definition.clone(),
            remote: counted(&definition).then(|| remotes.next()).flatten(),
            gives_back: Arc::new(AtomicBool::new(definition.sharing.given_back)),
            retired: false,
        });
        let (mut limits, ids) = self.place(next.collect(), nodes, now);
        // The local store keeps those that are gone until the next set, and so they are kept here.
        for gone in self.limits.load().all().filter(|held| !held.retired) {
            if limits.get(gone.id).is_err() {
                limits.put(Held { retired: true, ..Held::clone(gone) });
            }
        }
        self.limits.store(Arc::new(limits));
        // Any limit may have been raised.
        self.exhausted.clear();
        self.return_what_changed();
        ids
    }

    /// Goes on as one of another number of nodes: each share becomes what it is among so many, and what was counted is kept
    /// as a reload keeps it.
    pub(super) fn set_nodes(&self, changed: Nodes, now: Timestamp) {
        let _one_at_a_time = self.defining.lock();
        let before = self.limits.load();
        if before.nodes == changed {
            return;
        }
        tracing::info!(live = changed.live, rank = changed.rank, "the nodes that count together");
        let next = before.all().map(|held| Next {
            definition: held.definition.clone(),
            remote: held.remote,
            gives_back: held.gives_back.clone(),
            retired: held.retired,
        });
        let (limits, _) = self.place(next.collect(), changed, now);
        self.limits.store(Arc::new(limits));
    }

    /// Tells the local store the set to come, and names its limits as it does.
    fn place(&self, next: Vec<Next>, nodes: Nodes, now: Timestamp) -> (Limits, Vec<LimitId>) {
        let mut forms = vec![refuser()];
        let mut spans = Vec::new();
        for one in &next {
            let from = forms.len();
            forms.extend(nodes.local_forms(&one.definition));
            spans.push((from, forms.len() - 1));
        }
        let names = self.local.define(&forms, now);
        let mut limits = Limits::none(nodes, names[0]);
        let mut ids = Vec::new();
        for (next, (first, last)) in next.into_iter().zip(spans) {
            let Next { definition, remote, gives_back, retired } = next;
            let part = nodes.away(&definition.limit);
            let (id, away) = (names[first], names[last]);
            let pace = pace_of(&definition);
            limits.put(Held { id, definition, remote, away, part, gives_back, pace, retired });
            ids.push(id);
        }
        (limits, ids)
    }
}
