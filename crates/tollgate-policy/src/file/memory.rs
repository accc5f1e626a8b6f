//! `store: { memory: .. }`: counts of this process, and the file that keeps them over a restart.

use schemars::{Schema, SchemaGenerator};
use serde_json::json;
use tollgate_core::Micros;

use super::nearest::nearest;
use super::node::{Node, Value};
use super::shape::{At, Shape, into_schema, record};
use super::sink::Sink;
use super::store::SharedForm;
use crate::settings::{SnapshotSettings, StoreSettings};

/// A store that is written out: one of this process, or one that nodes share.
#[derive(Clone, Debug)]
pub(crate) enum LongStoreForm {
    /// In this process.
    Memory(MemoryStoreForm),
    /// Shared.
    Shared(Box<SharedForm>),
}

record! {
    /// A store of this process alone.
    MemoryStoreForm, "a memory store" {
        /// What becomes of the counts when the process ends.
        required memory: MemoryForm,
    }
}

record! {
    /// What becomes of a memory store's counts when the process ends.
    MemoryForm, "`memory`" {
        /// A file that counts are written to every few seconds and at shutdown, and read from at the start, so that a restart gives no second quota; beside the policy unless absolute. For its owner alone: it tells how keys are hashed.
        optional snapshot: String,
        /// How often it is written, 100ms to 1h; 5s unless said otherwise. What a killed process counted since the last time is lost.
        optional every: Micros,
    }
}

impl Shape for LongStoreForm {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<LongStoreForm> {
        let is_memory = |key: &str| nearest(key, ["memory"]).is_some();
        match &node.value {
            Value::Map(entries) if entries.iter().any(|entry| is_memory(&entry.key)) => {
                MemoryStoreForm::decode(node, sink).map(LongStoreForm::Memory)
            }
            _ => SharedForm::decode(node, sink).map(|form| LongStoreForm::Shared(Box::new(form))),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let memory = MemoryStoreForm::schema(generator);
        let shared = SharedForm::schema(generator);
        into_schema(json!({ "anyOf": [memory, shared] }))
    }
}

/// How often the file is written, unless it is said, and the bounds.
const EVERY: Micros = Micros::from_secs(5);
const SHORTEST: Micros = Micros::new(100_000);
const LONGEST: Micros = Micros::from_secs(3600);

/// What a memory store keeps.
pub(crate) fn memory(form: &MemoryStoreForm, sink: &mut Sink<'_>) -> StoreSettings {
    let Some(memory) = form.memory.as_ref().map(|memory| &memory.value) else {
        return StoreSettings::default();
    };
    let every = every(memory.every.as_ref(), sink);
    let snapshot = memory.snapshot.as_ref().map(|path| snapshot(path, every, sink));
    if let (Some(every), None) = (&memory.every, memory.written.place("snapshot")) {
        let help = "name the file too: `snapshot: counts.snapshot`, or leave `every` out";
        let message =
            "`every` says how often a `snapshot` is written, and there is none".to_owned();
        sink.error(every.name, message, help.to_owned());
    }
    StoreSettings::Memory { snapshot }
}

fn every(form: Option<&At<Micros>>, sink: &mut Sink<'_>) -> Micros {
    let Some(form) = form else { return EVERY };
    if !(SHORTEST..=LONGEST).contains(&form.value) {
        let help = "write a time between `100ms` and `1h`; a killed process loses what it counted since the last time";
        sink.error(form.span, "no interval for a snapshot".to_owned(), help.to_owned());
    }
    form.value
}

fn snapshot(form: &At<String>, every: Micros, sink: &mut Sink<'_>) -> SnapshotSettings {
    let path = sink.surroundings.path(&form.value);
    if form.value.is_empty() || form.value.ends_with('/') || path.is_dir() {
        let message = format!("`{}` is no file that counts could be written to", form.value);
        let help = "name a file, such as `/var/lib/tollgate/counts.snapshot`";
        sink.error(form.span, message, help.to_owned());
    } else if let Some(folder) =
        path.parent().filter(|folder| !folder.is_dir() && folder.components().next().is_some())
    {
        let message = format!("there is no folder {}", folder.display());
        let help = "make the folder, for the user that the gateway runs as";
        match sink.surroundings.is_serving() {
            true => sink.error(form.span, message, help.to_owned()),
            false => {
                let later = format!("{help}: no gateway serves this policy without it");
                sink.warn(form.span, message, &later);
            }
        }
    }
    SnapshotSettings { path, every }
}
