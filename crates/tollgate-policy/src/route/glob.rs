//! Globs over the segments of a normalised path.

use crate::path;

/// A compiled path pattern. A trailing slash counts neither in the pattern nor in the path: `/login` and `/login/` are one
/// place to limit, whatever the upstream makes of them.
#[derive(Debug)]
pub(crate) struct Glob {
    shape: Shape,
    ignore_case: bool,
}

/// The forms that most patterns have are compared at one go.
#[derive(Debug)]
enum Shape {
    /// `/a/b`: this path, without trailing slash.
    Exact(Box<str>),
    /// `/a/b/**`: this path, or one below it.
    Below(Box<str>),
    /// All others.
    Segments(Vec<Segment>),
}

#[derive(Debug)]
enum Segment {
    /// This text.
    Text(Box<str>),
    /// Text with `*` in it: the parts between the stars.
    Pattern(Box<[Box<str>]>),
    /// `**`: any number of segments, none included.
    Any,
}

impl Glob {
    /// Compiles `pattern`.
    ///
    /// # Errors
    /// Text that says what is wrong with it.
    pub(crate) fn new(pattern: &str, ignore_case: bool) -> Result<Glob, String> {
        if !pattern.starts_with('/') {
            return Err(format!("the path pattern {pattern:?} does not begin with a slash"));
        }
        let normal = path::normalise(pattern)
            .map_err(|bad| format!("the path pattern {pattern:?} matches no path: {bad}"))?;
        let mut segments: Vec<Segment> = Vec::new();
        for text in split(&normal) {
            let segment = Segment::new(text).ok_or_else(|| {
                format!("in the path pattern {pattern:?}, ** stands for whole segments: write /**/ or * in {text:?}")
            })?;
            let repeated =
                matches!((&segment, segments.last()), (Segment::Any, Some(Segment::Any)));
            if !repeated {
                segments.push(segment);
            }
        }
        Ok(Glob { shape: Shape::of(segments), ignore_case })
    }

    /// Whether it matches `path`, which is normal.
    #[inline]
    pub(crate) fn matches(&self, path: &str) -> bool {
        let bytes = path.as_bytes();
        let bytes = bytes.strip_suffix(b"/").unwrap_or(bytes);
        match &self.shape {
            Shape::Exact(text) => equal(bytes, text.as_bytes(), self.ignore_case),
            Shape::Below(text) => {
                let (text, length) = (text.as_bytes(), text.len());
                bytes.len() >= length
                    && equal(&bytes[..length], text, self.ignore_case)
                    && matches!(bytes.get(length), None | Some(b'/'))
            }
            Shape::Segments(segments) => walk(segments, path, self.ignore_case),
        }
    }
}

impl Shape {
    fn of(segments: Vec<Segment>) -> Shape {
        let (below, leading) = match segments.split_last() {
            Some((Segment::Any, leading)) => (true, leading),
            _ => (false, &*segments),
        };
        let mut text = String::new();
        for segment in leading {
            let Segment::Text(part) = segment else { return Shape::Segments(segments) };
            text.push('/');
            text.push_str(part);
        }
        if below { Shape::Below(text.into()) } else { Shape::Exact(text.into()) }
    }
}

/// Whether `segments` match those of `path`.
#[inline(never)]
fn walk(segments: &[Segment], path: &str, ignore_case: bool) -> bool {
    let mut rest = split(path);
    let mut place = 0;
    // Where to begin again: after the last `**`, one segment further each time.
    let mut again: Option<(usize, Split<'_>)> = None;
    loop {
        match segments.get(place) {
            Some(Segment::Any) => {
                place += 1;
                if place == segments.len() {
                    return true;
                }
                again = Some((place, rest.clone()));
                continue;
            }
            Some(segment) => {
                let Some(text) = rest.next() else { return false };
                if segment.matches(text, ignore_case) {
                    place += 1;
                    continue;
                }
            }
            None if rest.clone().next().is_none() => return true,
            None => {}
        }
        let Some((after, from)) = &mut again else { return false };
        if from.next().is_none() {
            return false;
        }
        place = *after;
        rest = from.clone();
    }
}

type Split<'a> = std::iter::Filter<std::str::Split<'a, char>, fn(&&str) -> bool>;

/// The segments of a normal path: the empty ones are before the first slash and after a trailing one.
fn split(path: &str) -> Split<'_> {
    let full: fn(&&str) -> bool = |segment| !segment.is_empty();
    path.split('/').filter(full)
}

impl Segment {
    fn new(text: &str) -> Option<Segment> {
        match text {
            "**" => Some(Segment::Any),
            _ if text.contains("**") => None,
            _ if text.contains('*') => {
                Some(Segment::Pattern(text.split('*').map(Box::from).collect()))
            }
            _ => Some(Segment::Text(Box::from(text))),
        }
    }

    fn matches(&self, text: &str, ignore_case: bool) -> bool {
        match self {
            Segment::Text(wanted) => equal(text.as_bytes(), wanted.as_bytes(), ignore_case),
            Segment::Pattern(parts) => between_stars(text.as_bytes(), parts, ignore_case),
            Segment::Any => true,
        }
    }
}

/// Whether `text` is the parts with anything between them. Each part is found as early as possible, the last at the end.
fn between_stars(text: &[u8], parts: &[Box<str>], ignore_case: bool) -> bool {
    let (Some((first, middle)), Some(last)) = (parts.split_first(), parts.last()) else {
        return false;
    };
    let (first, last) = (first.as_bytes(), last.as_bytes());
    if text.len() < first.len() + last.len()
        || !equal(&text[..first.len()], first, ignore_case)
        || !equal(&text[text.len() - last.len()..], last, ignore_case)
    {
        return false;
    }
    let mut rest = &text[first.len()..text.len() - last.len()];
    for part in &middle[..middle.len() - 1] {
        let Some(at) = find(rest, part.as_bytes(), ignore_case) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

fn find(text: &[u8], part: &[u8], ignore_case: bool) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    text.windows(part.len()).position(|window| equal(window, part, ignore_case))
}

#[inline]
fn equal(a: &[u8], b: &[u8], ignore_case: bool) -> bool {
    if ignore_case { a.eq_ignore_ascii_case(b) } else { a == b }
}

#[cfg(test)]
mod tests {
    use super::{Glob, Segment, split, walk};

    fn matches(pattern: &str, path: &str) -> bool {
        Glob::new(pattern, false).expect("a pattern").matches(path)
    }

    #[test]
    fn globs() {
        let yes = [
            ("/", "/"),
            ("/**", "/"),
            ("/**", "/a/b"),
            ("/v1/**", "/v1"),
            ("/v1/**", "/v1/"),
            ("/v1/**", "/v1/a/b/c"),
            ("/v1/x", "/v1/x/"),
            ("/v1/x/", "/v1/x"),
            ("/v1/*", "/v1/x"),
            ("/v1/*/edit", "/v1/7/edit"),
            ("/*.json", "/a.json"),
            ("/a*b*c", "/a123b45c"),
            ("/a*b*c", "/abbcc"),
            ("/**/x", "/x"),
            ("/**/x", "/a/x/b/x"),
            ("/a/**/b/**/c", "/a/b/c"),
            ("/a/**/b/**/c", "/a/1/b/2/b/3/c"),
            ("/**/**", "/a"),
            ("/%7euser/é", "/~user/%C3%A9"),
        ];
        for (pattern, path) in yes {
            assert!(matches(pattern, path), "{pattern} should match {path}");
        }
        let no = [
            ("/", "/a"),
            ("/v1/**", "/v10"),
            ("/v1/**", "/"),
            ("/v1/*", "/v1"),
            ("/v1/*", "/v1/a/b"),
            ("/v1/x", "/v1/X"),
            ("/a*b", "/a"),
            ("/ab*ba", "/aba"),
            ("/a*bc*c", "/abc"),
            ("/**/x", "/a/x/b"),
            ("/a/**/b", "/a/c"),
        ];
        for (pattern, path) in no {
            assert!(!matches(pattern, path), "{pattern} should not match {path}");
        }
    }

    #[test]
    fn every_shape_matches_as_its_segments_do() {
        let patterns =
            ["/", "/**", "/a", "/a/b/", "/a/**", "/A/b/**", "/a/*", "/*/b", "/**/b", "/a*"];
        let paths =
            ["/", "/a", "/a/", "/a/b", "/a/b/", "/a/b/c", "/ab", "/ab/c", "/A", "/A/B", "/c/b"];
        for (pattern, path) in
            patterns.iter().flat_map(|one| paths.iter().map(move |other| (*one, *other)))
        {
            for ignore_case in [false, true] {
                let glob = Glob::new(pattern, ignore_case).expect("a pattern");
                let segments: Vec<_> = split(pattern).filter_map(Segment::new).collect();
                let walked = walk(&segments, path, ignore_case);
                assert_eq!(glob.matches(path), walked, "{pattern} on {path}");
            }
        }
    }

    #[test]
    fn case_is_ignored_where_asked() {
        let glob = Glob::new("/API/log*", true).expect("a pattern");
        assert!(glob.matches("/api/LOGIN"));
        assert!(!glob.matches("/api/signin"));
    }

    #[test]
    fn what_is_no_pattern() {
        assert!(Glob::new("v1/**", false).expect_err("relative").contains("slash"));
        assert!(
            Glob::new("/v1/a**", false).expect_err("half a segment").contains("whole segments")
        );
        assert!(Glob::new("/a%2Fb", false).expect_err("never matches").contains("%2F"));
    }

    #[test]
    fn many_stars_end_in_time() {
        let glob = Glob::new("/**/a/**/a/**/a/**/b", false).expect("a pattern");
        assert!(!glob.matches(&"/a".repeat(2_000)));
    }
}
