//! The scripts in use: those of mixes are made when they are first asked for, the others stand as they are.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use parking_lot::RwLock;
use smallvec::SmallVec;

use super::fragment::Fragment;
use super::part::{Kind, Part};
use super::program::Mix;
use crate::redis::script::Script;

/// The script of a mix.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) script: Script,
    /// Whether it wants the decision's ticket.
    pub(crate) wants_ticket: bool,
}

/// The scripts of all mixes that were asked for. There are as many as routes use, so none is forgotten.
#[derive(Debug)]
pub(crate) struct Library {
    virtual_time: bool,
    /// Those for slots of an unknown time, and those for a known one.
    programs: [RwLock<Programs>; 2],
}

type Programs = HashMap<SmallVec<[Part; 4]>, Arc<Program>>;

impl Library {
    /// No script yet. With `virtual_time` now comes with each call.
    pub(crate) fn new(virtual_time: bool) -> Library {
        Library { virtual_time, programs: Default::default() }
    }

    /// The script of `parts`. `hold`: slots are held for a time that is known beforehand.
    pub(crate) fn program(&self, parts: &[Part], hold: bool) -> Arc<Program> {
        let programs = &self.programs[usize::from(hold)];
        if let Some(program) = programs.read().get(parts) {
            return program.clone();
        }
        let mix = Mix { virtual_time: self.virtual_time, hold, parts };
        let program = Program { script: Script::new(mix.text()), wants_ticket: mix.wants_ticket() };
        programs.write().entry(parts.into()).or_insert(Arc::new(program)).clone()
    }
}

/// Gives back to a key of this kind; none where it counts nothing.
pub(crate) fn give_back(kind: Kind) -> Option<&'static Script> {
    static BUCKET: LazyLock<Script> =
        LazyLock::new(|| Script::new(include_str!("lua/give_back/bucket.lua")));
    static COUNT: LazyLock<Script> =
        LazyLock::new(|| Script::new(include_str!("lua/give_back/count.lua")));
    static SLIDING: LazyLock<Script> =
        LazyLock::new(|| Script::new(include_str!("lua/give_back/sliding_cells.lua")));
    static LOG: LazyLock<Script> =
        LazyLock::new(|| Script::new(include_str!("lua/give_back/sliding_log.lua")));
    static SLOTS: LazyLock<Script> =
        LazyLock::new(|| Script::new(include_str!("lua/give_back/concurrency.lua")));
    match kind {
        Kind::Closed => None,
        Kind::Bucket => Some(&BUCKET),
        Kind::FixedWindow | Kind::Quota => Some(&COUNT),
        Kind::SlidingWindow | Kind::SlidingCells => Some(&SLIDING),
        Kind::SlidingLog => Some(&LOG),
        Kind::Concurrency => Some(&SLOTS),
    }
}

/// Hears a node's reports and lends it units, of a key of this kind; none where it cannot be leased.
pub(crate) fn lease(kind: Kind) -> Option<&'static Script> {
    static BUCKET: LazyLock<Script> =
        LazyLock::new(|| Script::new(include_str!("lua/lease/bucket.lua")));
    static COUNT: LazyLock<Script> =
        LazyLock::new(|| Script::new(include_str!("lua/lease/count.lua")));
    static SLIDING: LazyLock<Script> = LazyLock::new(|| {
        let products: Vec<&str> = Fragment::products().section("wide").collect();
        let products = format!("local floor = math.floor\n{}\n", products.join("\n"));
        Script::new(products + include_str!("lua/lease/sliding.lua"))
    });
    match kind {
        Kind::Bucket => Some(&BUCKET),
        Kind::FixedWindow | Kind::Quota => Some(&COUNT),
        Kind::SlidingWindow | Kind::SlidingCells => Some(&SLIDING),
        Kind::Closed | Kind::SlidingLog | Kind::Concurrency => None,
    }
}

/// Forgets a window's key, but for what is out on lease.
pub(crate) fn forget() -> &'static Script {
    static FORGET: LazyLock<Script> =
        LazyLock::new(|| Script::new(include_str!("lua/lease/forget.lua")));
    &FORGET
}

/// Puts a state in the place of another, unless that has changed meanwhile.
pub(crate) fn replace() -> &'static Script {
    static REPLACE: LazyLock<Script> =
        LazyLock::new(|| Script::new(include_str!("lua/replace.lua")));
    &REPLACE
}

/// Tells when a limit was first loaded by any node.
pub(crate) fn first_load() -> &'static Script {
    static FIRST_LOAD: LazyLock<Script> =
        LazyLock::new(|| Script::new(include_str!("lua/first_load.lua")));
    &FIRST_LOAD
}

/// Says that a node is alive, and tells who is.
pub(crate) fn beat() -> &'static Script {
    static BEAT: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("lua/beat.lua")));
    &BEAT
}
