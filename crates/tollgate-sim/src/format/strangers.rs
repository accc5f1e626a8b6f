//! Fields that nobody asked for: remembered, so that a misspelt one is not lost in silence.

/// Names that had no influence, each with how often it came; the first few.
#[derive(Clone, Debug, Default)]
pub struct Strangers {
    known: Vec<(String, u64)>,
    others: u64,
}

/// How many names are remembered.
const MOST: usize = 8;

/// How much of a name is remembered, in characters.
const LONGEST: usize = 40;

impl Strangers {
    pub(crate) fn note(&mut self, name: &str) {
        let cut = name.char_indices().nth(LONGEST).map_or(name.len(), |(at, _)| at);
        let name = &name[..cut];
        if let Some((_, times)) = self.known.iter_mut().find(|(known, _)| known == name) {
            *times += 1;
        } else if self.known.len() < MOST {
            self.known.push((name.to_owned(), 1));
        } else {
            self.others += 1;
        }
    }

    /// The names, in the order in which they first came, and how often each did.
    pub fn names(&self) -> impl Iterator<Item = (&str, u64)> {
        self.known.iter().map(|(name, times)| (name.as_str(), *times))
    }

    /// How many fields came with further names.
    #[must_use]
    pub fn others(&self) -> u64 {
        self.others
    }

    /// Adds what another reader met.
    pub fn merge(&mut self, other: &Strangers) {
        for (name, times) in &other.known {
            if let Some((_, known)) = self.known.iter_mut().find(|(known, _)| known == name) {
                *known += times;
            } else if self.known.len() < MOST {
                self.known.push((name.clone(), *times));
            } else {
                self.others += times;
            }
        }
        self.others += other.others;
    }
}
