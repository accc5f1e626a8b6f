//! `ejection:`, when servers that fail requests are left out for a while.

use tollgate_core::Micros;

use super::{count, span, statuses};
use crate::file::answers::Percent;
use crate::file::collections::{AtLeastOne, Short};
use crate::file::shape::{At, choice, record};
use crate::file::sink::Sink;
use crate::settings::Ejection;

/// `off`, or when.
pub(super) type EjectionForm = Short<Off, WhenForm>;

/// The word `off`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Off;

choice!(Off, "way to leave servers out" {
    "off" => Off,
});

record! {
    /// When servers that fail requests are left out, and for how long. Where all are left out, all are asked.
    WhenForm, "`ejection`" {
        /// Failures in a row: no connection, a broken one, no answer in time, `status`; 5 unless said otherwise.
        optional failures: u64,
        /// Statuses that are failures; `[500, 502, 503, 504]` unless said otherwise.
        optional status: AtLeastOne<u64>,
        /// How long a server is left out, each further time in a row twice as long; 5s unless said otherwise.
        optional first: Micros,
        /// How long at most; 5m unless said otherwise.
        optional longest: Micros,
        /// How much of the pool may be left out at a time; 50% unless said otherwise.
        optional share: Percent,
    }
}

/// The field's meaning.
pub(super) fn ejection(form: Option<&At<EjectionForm>>, sink: &mut Sink<'_>) -> Option<Ejection> {
    let mut made = Ejection::default();
    let form = match form.map(|form| &form.value) {
        None => return Some(made),
        Some(Short::Short(Off)) => return None,
        Some(Short::Long(form)) => form,
    };
    let (shortest, longest) = (Micros::new(10_000), Micros::from_secs(86_400));
    count(&form.failures, 1..=1_000, &mut made.failures, sink);
    span(&form.first, shortest, longest, &mut made.first, sink);
    span(&form.longest, shortest, longest, &mut made.longest, sink);
    if let Some(list) = &form.status {
        made.status = statuses(&list.value.0, 400..=599, sink);
    }
    if let Some(share) = &form.share {
        made.share = share.value.0;
    }
    match &form.longest {
        Some(written) if made.longest < made.first => {
            let message = "`longest` is shorter than `first`".to_owned();
            sink.error(written.span, message, "the first time is the shortest".to_owned());
        }
        _ => made.longest = made.longest.max(made.first),
    }
    Some(made)
}
