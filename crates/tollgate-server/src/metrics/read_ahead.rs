//! Bodies that were read to know who asks, by what came of it.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

use super::Adder;

/// What came of reading a body ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadAhead {
    /// All of it was read.
    Whole,
    /// It has more than `max_identity_body` bytes.
    TooLarge,
    /// The client fell silent.
    Silent,
    /// The client broke it off.
    Broken,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Result {
    result: &'static str,
}

#[derive(Debug)]
pub(super) struct BodiesRead {
    family: Family<Result, Counter>,
    /// In the order of [`ReadAhead`].
    resolved: [Counter; 4],
}

impl Default for BodiesRead {
    fn default() -> BodiesRead {
        let family = Family::<Result, Counter>::default();
        let resolved = ["whole", "too_large", "silent", "broken"]
            .map(|result| family.get_or_create_owned(&Result { result }));
        BodiesRead { family, resolved }
    }
}

impl BodiesRead {
    pub(super) fn count(&self, result: ReadAhead) {
        self.resolved[result as usize].inc();
    }

    pub(super) fn register(&self, add: &mut Adder<'_>) {
        add.metric(
            "identity_bodies",
            "Bodies read before the decision, to know who asks, by result",
            &self.family,
        );
    }
}
