//! `RateLimit-Policy` as it was written before: the limits of a route and their numbers are nearly always the same, so the
//! value is shared, not written.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use http::header::HeaderValue;
use smallvec::SmallVec;
use tollgate_core::Micros;
use tollgate_policy::{LimitReport, Name};

/// So many lists are kept; one takes the place of another that it shares it with.
const PLACES: usize = 64;

/// The lists that were written last.
#[derive(Debug)]
pub(crate) struct Lists([ArcSwapOption<List>; PLACES]);

#[derive(Debug)]
struct List {
    of: SmallVec<[Told; 4]>,
    value: HeaderValue,
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
        Lists(std::array::from_fn(|_| ArcSwapOption::empty()))
    }

    /// The list of `reports`, which `write` writes where it is not the one written last; `None` where it is no field's value.
    pub(crate) fn value<'a>(
        &self,
        reports: impl Iterator<Item = &'a LimitReport> + Clone,
        write: impl FnOnce() -> Vec<u8>,
    ) -> Option<HeaderValue> {
        let told = reports.map(Told::of);
        let place = told.clone().fold(0, |place, told| place * 7 + told.limit * 3 + told.class());
        let place = &self.0[place % PLACES];
        if let Some(list) = &*place.load()
            && list.of.iter().copied().eq(told.clone())
        {
            return Some(list.value.clone());
        }
        let value = HeaderValue::from_maybe_shared(Bytes::from(write())).ok()?;
        place.store(Some(Arc::new(List { of: told.collect(), value: value.clone() })));
        Some(value)
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
    fn a_list_is_shared_while_nothing_of_it_changes() {
        let lists = Lists::new();
        let of = |reports: &[LimitReport], text: &'static str| {
            lists.value(reports.iter(), || text.as_bytes().to_vec()).expect("a value")
        };
        let first = report(0, "a", Some(0), 10);
        assert_eq!(of(std::slice::from_ref(&first), "one"), "one");
        assert_eq!(of(std::slice::from_ref(&first), "not written"), "one");
        // Another number, another name in the same place, another class, one more limit.
        let others = [
            vec![report(0, "a", Some(0), 11)],
            vec![report(0, "b", Some(0), 11)],
            vec![report(0, "b", Some(1), 11)],
            vec![report(0, "b", None, 11)],
            vec![report(0, "b", None, 11), first.clone()],
            vec![],
        ];
        for (number, reports) in others.iter().enumerate() {
            let text = ["2", "3", "4", "5", "6", "7"][number];
            assert_eq!(of(reports, text), text);
            assert_eq!(of(reports, "not written"), text);
        }
        assert_eq!(of(&[first], "eight"), "eight", "its place was taken");
        assert_eq!(
            lists.value([].iter(), || b"\n".to_vec()).as_ref().map(HeaderValue::as_bytes),
            Some(&b"7"[..])
        );
        let odd = report(5, "odd", None, 1);
        assert_eq!(lists.value([odd].iter(), || b"\n".to_vec()), None);
    }
}
