//! Whatever a file holds, it is refused whole or taken whole.

use std::io::{self, Write};

use tollgate_store::snapshot::SnapshotError;

use super::framed::{framed, frames};
use super::world::{DAY, World, every_kind, read, seconds};

fn small() -> Vec<u8> {
    let world = World::new(every_kind());
    for limit in 0..9 {
        for key in ["a", "b", "c"] {
            world.charge(limit, key, 3, seconds(1));
        }
    }
    world.written(seconds(2))
}

fn refusal(bytes: &[u8]) -> Option<SnapshotError> {
    read(bytes, every_kind(), seconds(2)).err()
}

#[test]
fn every_half_of_a_file_is_refused() {
    let whole = small();
    assert!(refusal(&whole).is_none());
    for end in 0..whole.len() {
        let error = refusal(&whole[..end]).expect("it is half");
        let as_expected = match end {
            0..8 => matches!(error, SnapshotError::Foreign),
            _ => matches!(error, SnapshotError::Cut { .. }),
        };
        assert!(as_expected, "cut at {end}: {error}");
    }
}

#[test]
fn every_changed_byte_is_seen() {
    let whole = small();
    for at in 0..whole.len() {
        for change in [1, 0x80, 0xff] {
            let mut changed = whole.clone();
            changed[at] ^= change;
            assert!(refusal(&changed).is_some(), "byte {at} changed by {change:#x}");
        }
    }
}

#[test]
fn something_behind_the_end_is_seen() {
    let mut bytes = small();
    bytes.push(0);
    assert!(matches!(refusal(&bytes), Some(SnapshotError::Damaged { .. })));
}

#[test]
fn what_is_wrong_is_said() {
    let said = |bytes: &[u8]| refusal(bytes).expect("it is wrong").to_string();
    assert_eq!(said(b"hello, I am a text file"), "it is no snapshot of Tollgate's counts");
    let mut newer = small();
    newer[8] = 9;
    assert_eq!(
        said(&newer),
        "it is of version 9 of the format, and this program reads version 1: another version of Tollgate wrote it"
    );
    assert_eq!(said(&small()[..100]), "it is cut off: what begins at byte 98 is not all there");
    let mut changed = small();
    changed[110] ^= 1;
    assert!(said(&changed).contains("its checksum is another one"), "{}", said(&changed));
}

/// Any number, in the order of a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)) as usize % end
    }
}

/// Files whose frames are right and whose contents are anything: they are refused, or what they say can be gone on with.
#[test]
fn content_that_no_gateway_writes_does_no_harm() {
    let whole = small();
    assert!(framed(&frames(&whole)) == whole, "both spellings say the same");
    let (mut taken, mut refused) = (0, 0);
    for seed in 0..4_000 {
        let mut random = Random(seed);
        let mut frames = frames(&whole);
        let count = frames.len();
        for _ in 0..=random.below(3) {
            let (_, content) = &mut frames[random.below(count)];
            let at = random.below(content.len());
            let bytes = [0, 1, 0x7f, 0x80, 0xff, random.below(256) as u8];
            content[at] = bytes[random.below(bytes.len())];
        }
        match random.below(12) {
            0 => frames.swap(random.below(count), random.below(count)),
            1 => drop(frames.remove(random.below(count))),
            2 => {
                let again = frames[random.below(count)].clone();
                frames.insert(random.below(count), again);
            }
            3 => {
                let (_, content) = &mut frames[random.below(count)];
                content.truncate(random.below(content.len()));
            }
            _ => {}
        }
        match read(&framed(&frames), every_kind(), seconds(2)) {
            Err(_) => refused += 1,
            Ok((world, _)) => {
                taken += 1;
                go_on(&world);
            }
        }
    }
    assert!(taken > 200 && refused > 1_000, "{taken} taken, {refused} refused");
}

/// Decides, sweeps, and has the next life begin with it.
fn go_on(world: &World) {
    for now in [2, 3_600, 3 * DAY] {
        for limit in 0..9 {
            for key in ["a", "b", "new"] {
                world.charge(limit, key, 1, seconds(now));
            }
        }
        while !world.store.sweep(seconds(now)) {}
        let (_, restored) = world.reborn(every_kind(), seconds(now));
        assert_eq!(restored.dropped + restored.expired, 0);
    }
}

/// A disk with room for so many bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 < bytes.len() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_disk_that_is_full_anywhere_is_an_error_and_changes_no_count() {
    let world = World::new(every_kind());
    assert!(world.admits(3, "k", 3, seconds(1)));
    let whole = world.written(seconds(2)).len();
    for room in 0..whole {
        let error = world.store.snapshot(Full(room), seconds(2), || {}).expect_err("it is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
    assert!(world.store.snapshot(Full(whole), seconds(2), || {}).is_ok());
    assert_eq!(world.remaining(3, "k", seconds(2)), 47);
}
