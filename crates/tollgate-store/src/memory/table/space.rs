//! The lines' memory: segments that double, reserved when first needed and touched by the system page by page as lines
//! come into use. A line's place never changes, so that readers need no protection from growth.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use zerocopy::FromZeros;

use super::line::Line;

/// Lines that each shard has in the first segment.
pub(super) const FIRST: usize = 32;
const SEGMENTS: usize = 28;

/// Room for the lines of all shards.
#[derive(Debug)]
pub(super) struct Space {
    shards: usize,
    segments: [OnceLock<Segment>; SEGMENTS],
}

#[derive(Debug)]
struct Segment {
    words: Box<[AtomicU64]>,
    /// Words before the first that begins a cache line. (Memory asked for aligned is cleared, hence touched, at once.)
    skip: usize,
}

impl Space {
    /// No memory yet.
    pub(super) fn new(shards: usize) -> Space {
        Space { shards, segments: [const { OnceLock::new() }; SEGMENTS] }
    }

    /// Sees to it that every shard can have `lines` lines; `false` where there is no memory for that.
    pub(super) fn reserve(&self, lines: usize) -> bool {
        let last = segment_of(lines.max(1) - 1);
        last < SEGMENTS && (0..=last).all(|segment| self.reserve_segment(segment))
    }

    fn reserve_segment(&self, segment: usize) -> bool {
        if self.segments[segment].get().is_some() {
            return true;
        }
        let Some(new) = Segment::new(self.shards, lines_in(segment)) else { return false };
        // Where another thread was faster, its segment stays and ours goes.
        let _ = self.segments[segment].set(new);
        true
    }

    /// A line of a shard.
    ///
    /// # Panics
    /// Where it was not reserved.
    #[inline(always)]
    pub(super) fn line(&self, shard: usize, line: usize) -> &Line {
        // Segments have FIRST, 2 * FIRST, 4 * FIRST lines a shard, so that FIRST more than the line's number tells by its
        // highest bit the segment, and by the others the place in it.
        let number = line + FIRST;
        let log = number.ilog2();
        let segment = &self.segments[(log - FIRST.ilog2()) as usize];
        let memory = segment.get().expect("a line in use was reserved");
        let (lines, _) = memory.words[memory.skip..].as_chunks::<8>();
        &lines[(shard << log) + (number - (1 << log))]
    }
}

impl Segment {
    fn new(shards: usize, lines: usize) -> Option<Segment> {
        // One line more than needed: the first may begin within a cache line.
        let words = shards.checked_mul(lines)?.checked_add(1)?.checked_mul(8)?;
        let words = <[AtomicU64]>::new_box_zeroed_with_elems(words).ok()?;
        let skip = words.as_ptr().align_offset(64);
        (skip < 8).then_some(Segment { words, skip })
    }
}

/// In which segment a line is.
fn segment_of(line: usize) -> usize {
    ((line + FIRST).ilog2() - FIRST.ilog2()) as usize
}

/// How many lines of each shard a segment has.
fn lines_in(segment: usize) -> usize {
    FIRST << segment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_its_own_place() {
        let space = Space::new(4);
        assert!(space.reserve(100));
        let mut places = Vec::new();
        for shard in 0..4 {
            for line in 0..100 {
                let place = std::ptr::from_ref(space.line(shard, line)) as usize;
                assert_eq!(place % 64, 0);
                places.push(place);
            }
        }
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 400);
    }
}
