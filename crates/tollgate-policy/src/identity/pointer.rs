//! JSON pointers (RFC 6901): which value of a document is meant.

use std::fmt;

use super::fold;

/// Deepest value that is pointed at: the reader of documents goes no deeper.
const DEEPEST: usize = 100;

/// A JSON pointer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    pub(super) steps: Box<[Step]>,
}

/// One step into an object or a list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The name, where the value is an object.
    name: Box<str>,
    /// As [`fold`] spells it.
    folded: Box<[u8]>,
    /// The place, where the value is a list and the name is one.
    pub(super) place: Option<usize>,
}

/// How like a member's name is to a step's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    /// It is another.
    Other,
    /// It is the same to readers who ignore case.
    Similar,
    /// It is the same.
    Same,
}

/// Why a text is no JSON pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadPointer {
    /// It does not begin with `/`.
    NoSlash,
    /// A `~` that is neither `~0` nor `~1`.
    Escape,
    /// More than 100 steps.
    Deep,
}

impl Pointer {
    /// Reads `text`. The empty one points at the whole document.
    pub(crate) fn parse(text: &str) -> Result<Pointer, BadPointer> {
        if text.is_empty() {
            return Ok(Pointer { steps: Box::default() });
        }
        let steps = text.strip_prefix('/').ok_or(BadPointer::NoSlash)?;
        let steps: Box<[Step]> = steps.split('/').map(Step::parse).collect::<Result<_, _>>()?;
        if steps.len() > DEEPEST { Err(BadPointer::Deep) } else { Ok(Pointer { steps }) }
    }
}

impl Step {
    fn parse(text: &str) -> Result<Step, BadPointer> {
        let mut rest = text.split('~');
        let mut name = rest.next().unwrap_or_default().to_owned();
        for escaped in rest {
            let (character, after) = match escaped.as_bytes().first() {
                Some(b'0') => ('~', &escaped[1..]),
                Some(b'1') => ('/', &escaped[1..]),
                _ => return Err(BadPointer::Escape),
            };
            name.push(character);
            name.push_str(after);
        }
        // A place is written in one way only: no sign, no leading zeros.
        let place = name.parse().ok().filter(|place: &usize| place.to_string() == name);
        let folded = fold(name.as_bytes()).into_owned().into();
        Ok(Step { name: name.into(), folded, place })
    }

    pub(super) fn likeness(&self, name: &str) -> Likeness {
        if *self.name == *name {
            Likeness::Same
        } else if *self.folded == *fold(name.as_bytes()) {
            Likeness::Similar
        } else {
            Likeness::Other
        }
    }
}

impl fmt::Display for BadPointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BadPointer::NoSlash => "no JSON pointer: it does not begin with `/`",
            BadPointer::Escape => "no JSON pointer: a `~` is neither `~0` nor `~1`",
            BadPointer::Deep => "a JSON pointer of more than 100 steps",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Vec<(String, Option<usize>)> {
        let pointer = Pointer::parse(text).expect("a pointer");
        pointer.steps.iter().map(|step| (step.name.to_string(), step.place)).collect()
    }

    #[test]
    fn pointers_are_read() {
        assert_eq!(steps(""), []);
        assert_eq!(steps("/"), [(String::new(), None)]);
        assert_eq!(steps("/a~1b/~01"), [("a/b".to_owned(), None), ("~1".to_owned(), None)]);
        for (text, place) in [("/0", Some(0)), ("/12", Some(12)), ("/01", None), ("/-", None)] {
            assert_eq!(steps(text)[0].1, place, "{text}");
        }
        assert_eq!(steps("/+1")[0].1, None);
        assert_eq!(Pointer::parse("a"), Err(BadPointer::NoSlash));
        assert_eq!(Pointer::parse("/a~"), Err(BadPointer::Escape));
        assert_eq!(Pointer::parse("/~2"), Err(BadPointer::Escape));
        assert_eq!(Pointer::parse(&"/a".repeat(101)), Err(BadPointer::Deep));
    }

    #[test]
    fn names_that_some_readers_take_for_the_same() {
        let step = Step::parse("task").expect("a step");
        assert_eq!(step.likeness("task"), Likeness::Same);
        for name in ["Task", "TASK", "ta\u{17f}k", "tas\u{212a}"] {
            assert_eq!(step.likeness(name), Likeness::Similar, "{name}");
        }
        assert_eq!(step.likeness("task "), Likeness::Other);
    }
}
