//! `RateLimit-Policy` as it was written before: the limits of a route and their numbers are nearly always the same.

use std::sync::OnceLock;

use smallvec::SmallVec;
use tollgate_core::Micros;
use tollgate_policy::{LimitReport, Name};

/// So many lists are kept, in the places that their limits choose.
const PLACES: usize = 64;

/// The lists that were written first. They are never replaced, so that readers share nothing that is written to; what comes
/// later to a place that is taken is written each time.
#[derive(Debug)]
pub(crate) struct Lists([OnceLock<List>; PLACES]);

#[derive(Debug)]
struct List {
    of: SmallVec<[Told; 4]>,
    text: Box<str>,
}

/// What a limit's item is written of: a calendar's periods are not all as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Told {
    limit: usize,
    name: Name,
    class: Option<usize>,
    quota: u64,
    window: Option<Micros>,
}

impl Lists {
    pub(crate) fn new() -> Lists {
        Lists([const { OnceLock::new() }; PLACES])
    }

    /// The list of `reports`, which `write` writes where it is the first in its place; `None` where that is another's.
    pub(crate) fn kept<'a>(
        &self,
        reports: impl Iterator<Item = &'a LimitReport> + Clone,
        write: impl FnOnce() -> Box<str>,
    ) -> Option<&str> {
        let told = reports.map(Told::of);
        let place = told
            .clone()
            .fold(0, |place, told| (place * 7 + told.limit * 3 + told.class()) % PLACES);
        let list = self.0[place].get_or_init(|| List { of: told.clone().collect(), text: write() });
        list.of.iter().copied().eq(told).then_some(&*list.text)
    }
}

impl Told {
    fn of(report: &LimitReport) -> Told {
        let LimitReport { limit, name, class, quota, window, .. } = *report;
        Told { limit, name, class, quota, window }
    }

    /// The same for each class, and another where there is none.
    fn class(self) -> usize {
        self.class.map_or(0, |class| class + 1)
    }
}

#[cfg(test)]
mod tests {
    use tollgate_core::{Retry, Standing};
    use tollgate_store::Source;

    use super::*;

    fn report(limit: usize, name: &str, class: Option<usize>, quota: u64) -> LimitReport {
        LimitReport {
            limit,
            name: name.into(),
            class,
            cost: 1,
            refused: false,
            shadow: false,
            retry: Retry::default(),
            wait: Micros::ZERO,
            quota,
            window: None,
            standing: Standing::default(),
            source: Source::Node,
            unavailable: false,
        }
    }

    #[test]
    fn a_list_is_kept_for_its_limits_and_their_numbers() {
        let lists = Lists::new();
        let of = |reports: &[LimitReport], text: &str| {
            lists.kept(reports.iter(), || text.into()).map(str::to_owned)
        };
        let first = report(0, "a", Some(0), 10);
        assert_eq!(of(std::slice::from_ref(&first), "one").as_deref(), Some("one"));
        assert_eq!(of(std::slice::from_ref(&first), "not written").as_deref(), Some("one"));
        // Another number or name in the same place.
        assert_eq!(of(&[report(0, "a", Some(0), 11)], "not written"), None);
        assert_eq!(of(&[report(0, "b", Some(0), 10)], "not written"), None);
        let month = LimitReport { window: Some(Micros::from_secs(86_400)), ..first.clone() };
        assert_eq!(of(&[month], "not written"), None);
        // Another class, none, one more limit, no limit: other places.
        let others = [
            vec![report(0, "a", Some(1), 10)],
            vec![report(0, "a", None, 10), report(1, "b", None, 11)],
            vec![report(0, "a", None, 10), report(1, "b", Some(0), 11), first.clone()],
            vec![],
            vec![report(9, "many", None, 9); 100],
        ];
        for (number, reports) in others.iter().enumerate() {
            let text = ["2", "3", "4", "5", "6"][number];
            assert_eq!(of(reports, text).as_deref(), Some(text));
            assert_eq!(of(reports, "not written").as_deref(), Some(text));
        }
        assert_eq!(of(&[first], "not written").as_deref(), Some("one"));
    }
}
