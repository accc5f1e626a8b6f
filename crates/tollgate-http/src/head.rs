//! The head of a refusal, made ready when a policy is loaded: its fields in their order, with blanks for the values.

use http::header::{HeaderMap, HeaderName, HeaderValue, IterMut, RETRY_AFTER};
use tollgate_policy::settings::HeaderFamily;

use crate::fields::{self, Fields};
use crate::problem;
use crate::stated::Wait;

/// What stands where a value will be: no field of an answer is empty.
const BLANK: HeaderValue = HeaderValue::from_static("");

/// The heads of a policy's refusals. To copy one and fill it in takes half of what it takes to put field after field into a
/// new map, which hashes each name.
#[derive(Debug)]
pub(crate) struct Heads {
    /// A wait helps: with `Retry-After`.
    wait: HeaderMap,
    never: HeaderMap,
}

impl Heads {
    pub(crate) fn new(families: &[HeaderFamily]) -> Heads {
        let head = |first: &[HeaderName]| {
            let mut headers = problem::own_headers();
            let names = families.iter().flat_map(|family| fields::names(*family));
            headers.extend(first.iter().chain(names).map(|name| (name.clone(), BLANK)));
            headers
        };
        Heads { wait: head(&[RETRY_AFTER]), never: head(&[]) }
    }

    /// A copy of the head of a refusal that says `wait`.
    pub(crate) fn of(&self, wait: Wait) -> HeaderMap {
        match wait.seconds() {
            Some(_) => self.wait.clone(),
            None => self.never.clone(),
        }
    }
}

/// The blanks of a head, which are filled in in their order.
pub(crate) struct Blanks<'a>(IterMut<'a, HeaderValue>);

impl Blanks<'_> {
    pub(crate) fn of(head: &mut HeaderMap) -> Blanks<'_> {
        Blanks(head.iter_mut())
    }
}

impl Fields for Blanks<'_> {
    fn append(&mut self, name: HeaderName, value: &str) {
        self.insert(name, value);
    }

    fn insert(&mut self, name: HeaderName, value: &str) {
        let blank = self.0.find(|(_, value)| value.is_empty());
        if let (Some((place, blank)), Ok(value)) = (blank, HeaderValue::from_str(value)) {
            debug_assert_eq!(*place, name, "fields are written in the order of the head");
            *blank = value;
        }
    }
}
