//! One value of several, or none that can be trusted.

/// What several places that may hold a value say together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Single<T> {
    /// No place holds one; an empty value is none.
    Absent,
    /// All that hold one hold this.
    One(T),
    /// They differ. Which of them the upstream would believe is not known, so none is taken: whoever adds a second header
    /// becomes neither its user nor the first one's.
    Several,
}

impl<T> Single<T> {
    /// The same of what `change` makes of the value.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Single<U> {
        match self {
            Single::Absent => Single::Absent,
            Single::One(value) => Single::One(change(value)),
            Single::Several => Single::Several,
        }
    }
}

/// What `values` say together.
#[inline]
pub(crate) fn single<T: AsRef<[u8]>>(values: impl Iterator<Item = T>) -> Single<T> {
    let mut values = values.filter(|value| !value.as_ref().is_empty());
    let Some(first) = values.next() else { return Single::Absent };
    if values.all(|value| value.as_ref() == first.as_ref()) {
        Single::One(first)
    } else {
        Single::Several
    }
}

#[cfg(test)]
mod tests {
    use super::{Single, single};

    #[test]
    fn values_that_differ_are_none() {
        assert_eq!(single(std::iter::empty::<&str>()), Single::Absent);
        assert_eq!(single(["", ""].iter()), Single::Absent);
        assert_eq!(single(["a"].into_iter()), Single::One("a"));
        assert_eq!(single(["", "a", "a"].into_iter()), Single::One("a"));
        assert_eq!(single(["a", "b"].into_iter()), Single::Several);
    }
}
