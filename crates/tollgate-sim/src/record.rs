//! One recorded request, in memory that is used again for the next.

use std::net::IpAddr;
use std::ops::Range;

use memchr::memchr;
use tollgate_core::{Micros, Timestamp};

/// A recorded request. Its texts lie one after the other in one buffer, so that reading the next allocates nothing.
#[derive(Clone, Debug)]
pub struct Record {
    /// When it came.
    pub time: Timestamp,
    /// The socket's peer.
    pub peer: Option<IpAddr>,
    /// A cost that overrides the policy's.
    pub cost: Option<u64>,
    /// How it was answered; `None`: it never was.
    pub status: Option<u16>,
    /// From its leaving for the upstream until its answer.
    pub duration: Micros,
    text: String,
    method: Span,
    path: Span,
    query: Option<Span>,
    body: Option<Span>,
    headers: Vec<(Span, Span)>,
}

/// A part of the record's text.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Lines are shorter than 2^32 bytes, and so is what is kept of one.
    fn of(place: Range<usize>) -> Span {
        Span { start: place.start as u32, end: place.end as u32 }
    }
}

const GET: &str = "GET";
const ROOT: &str = "/";

impl Default for Record {
    fn default() -> Record {
        Record {
            time: Timestamp::EPOCH,
            peer: None,
            cost: None,
            status: Some(200),
            duration: Micros::ZERO,
            text: String::new(),
            method: Span::default(),
            path: Span::default(),
            query: None,
            body: None,
            headers: Vec::new(),
        }
    }
}

impl Record {
    /// Forgets everything but its memory: `GET /`, status 200, at the epoch.
    pub fn clear(&mut self) {
        self.time = Timestamp::EPOCH;
        (self.peer, self.cost, self.status, self.duration) = (None, None, Some(200), Micros::ZERO);
        (self.method, self.path, self.query, self.body) =
            (Span::default(), Span::default(), None, None);
        self.text.clear();
        self.headers.clear();
    }

    /// Forgets everything and keeps `line`, so that its parts need not be kept again.
    pub(crate) fn hold(&mut self, line: &str) {
        self.clear();
        self.text.push_str(line);
    }

    /// `GET` unless it was set.
    #[must_use]
    pub fn method(&self) -> &str {
        or(self.at(self.method), GET)
    }

    /// The path, without the query; `/` unless it was set.
    #[must_use]
    pub fn path(&self) -> &str {
        or(self.at(self.path), ROOT)
    }

    /// What follows the `?`.
    #[must_use]
    pub fn query(&self) -> Option<&str> {
        self.query.map(|span| self.at(span))
    }

    /// The body.
    #[must_use]
    pub fn body(&self) -> Option<&str> {
        self.body.map(|span| self.at(span))
    }

    /// The header fields, their names in lower case.
    pub fn headers(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.headers.iter().map(|(name, value)| (self.at(*name), self.at(*value)))
    }

    /// The first value of a header field.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Sets the method.
    pub fn set_method(&mut self, method: &str) {
        self.method = self.keep(method);
    }

    /// Sets path and query from a request's target; an absolute one (`http://host/path`) also says the host.
    pub fn set_target(&mut self, target: &str) {
        let target = if target.starts_with('/') { target } else { self.without_authority(target) };
        let (path, query) = match memchr(b'?', target.as_bytes()) {
            Some(at) => (&target[..at], Some(&target[at + 1..])),
            None => (target, None),
        };
        self.path = self.keep(path);
        self.query = query.map(|query| self.keep(query));
    }

    /// Sets the body.
    pub fn set_body(&mut self, body: &str) {
        self.body = Some(self.keep(body));
    }

    /// Adds a header field; its name is put into lower case.
    pub fn add_header(&mut self, name: &str, value: &str) {
        let name = self.keep(name);
        if let Some(kept) = self.text.get_mut(name.start as usize..name.end as usize) {
            kept.make_ascii_lowercase();
        }
        let value = self.keep(value);
        self.headers.push((name, value));
    }

    /// Sets the method to a part of the line that is held.
    pub(crate) fn method_at(&mut self, place: Range<usize>) {
        self.method = Span::of(place);
    }

    /// [`set_target`](Record::set_target) with parts of the line that is held: the path, and the query with its question mark.
    pub(crate) fn target_at(&mut self, path: Range<usize>, query: Option<Range<usize>>) {
        if self.text.as_bytes().get(path.start) != Some(&b'/') {
            let end = query.map_or(path.end, |query| query.end);
            let absolute = self.text.get(path.start..end).unwrap_or_default().to_owned();
            return self.set_target(&absolute);
        }
        self.path = Span::of(path);
        self.query = query.map(|query| Span::of(query.start + 1..query.end));
    }

    /// Sets the body to a part of the line that is held.
    pub(crate) fn body_at(&mut self, place: Range<usize>) {
        self.body = Some(Span::of(place));
    }

    /// Adds a header field whose name and value are parts of the line that is held.
    pub(crate) fn header_at(&mut self, name: Range<usize>, value: Range<usize>, capitals: bool) {
        if capitals && let Some(name) = self.text.get_mut(name.clone()) {
            name.make_ascii_lowercase();
        }
        self.headers.push((Span::of(name), Span::of(value)));
    }

    /// RFC 9112, 3.2.2: the host of an absolute target goes before a `Host` field.
    fn without_authority<'a>(&mut self, target: &'a str) -> &'a str {
        let rest = ["http://", "https://"].iter().find_map(|scheme| {
            let (start, rest) = target.split_at_checked(scheme.len())?;
            start.eq_ignore_ascii_case(scheme).then_some(rest)
        });
        let Some(rest) = rest else { return target };
        let (host, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let field = (self.keep("host"), self.keep(host));
        self.headers.insert(0, field);
        path
    }

    fn keep(&mut self, text: &str) -> Span {
        let start = self.text.len();
        self.text.push_str(text);
        Span::of(start..self.text.len())
    }

    fn at(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }
}

fn or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.is_empty() { otherwise } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_starts_with_what_the_design_says() {
        let record = Record::default();
        assert_eq!((record.method(), record.path(), record.query()), ("GET", "/", None));
        assert_eq!((record.status, record.cost, record.duration), (Some(200), None, Micros::ZERO));
    }

    #[test]
    fn targets_are_cut_at_the_first_question_mark() {
        let mut record = Record::default();
        record.set_target("/a/b?c=d?e");
        assert_eq!((record.path(), record.query()), ("/a/b", Some("c=d?e")));
        record.clear();
        record.set_target("/a?");
        assert_eq!((record.path(), record.query()), ("/a", Some("")));
    }

    #[test]
    fn an_absolute_target_says_the_host() {
        let mut record = Record::default();
        record.add_header("Host", "other.example");
        record.set_target("HTTP://shop.example:8080?x=1");
        assert_eq!((record.path(), record.query()), ("/", Some("x=1")));
        assert_eq!(record.header("host"), Some("shop.example:8080"));
    }

    #[test]
    fn a_cleared_record_is_a_new_one() {
        let mut record = Record::default();
        record.add_header("X-A", "1");
        record.set_body("b");
        record.set_method("PUT");
        record.clear();
        assert_eq!(format!("{record:?}"), format!("{:?}", Record::default()));
    }
}
