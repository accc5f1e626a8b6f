//! Interim answers (1xx) of upstreams that pass them on.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

use super::Adder;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Result {
    result: &'static str,
}

#[derive(Debug)]
pub(super) struct InterimAnswers {
    family: Family<Result, Counter>,
    passed: Counter,
    dropped: Counter,
}

impl Default for InterimAnswers {
    fn default() -> InterimAnswers {
        let family = Family::<Result, Counter>::default();
        let [passed, dropped] =
            ["passed", "dropped"].map(|result| family.get_or_create_owned(&Result { result }));
        InterimAnswers { family, passed, dropped }
    }
}

impl InterimAnswers {
    pub(super) fn count(&self, passed: bool) {
        if passed {
            self.passed.inc()
        } else {
            self.dropped.inc()
        };
    }

    pub(super) fn register(&self, add: &mut Adder<'_>) {
        add.metric(
            "interim_answers",
            "Interim answers (1xx) of upstreams with early_hints, passed on or dropped as too many",
            &self.family,
        );
    }
}
