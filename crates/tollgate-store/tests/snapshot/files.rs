//! The file: locked, replaced whole, for its owner alone, and put aside where it is wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tollgate_core::Timestamp;
use tollgate_store::snapshot::{Found, SnapshotError, SnapshotFile, SnapshotFileError};
use tollgate_store::{MemoryOptions, MemoryStore, Store};

use super::world::{World, every_kind, seconds};

fn open(path: &Path, now: Timestamp) -> (SnapshotFile, World, Found) {
    let file = SnapshotFile::lock(path).expect("nobody holds it");
    let definitions = every_kind();
    let (store, found) = file.open(MemoryOptions::default(), &definitions, now).expect("opened");
    let ids = store.define(&definitions, now);
    (file, World { store, definitions, ids }, found)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("a name");
    let mut names: Vec<String> = entries.map(|entry| name(entry.expect("an entry"))).collect();
    names.sort();
    names
}

#[test]
fn lives_follow_each_other_through_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("counts");
    for life in 0..5 {
        let (file, world, found) = open(&path, seconds(life));
        assert_eq!(matches!(found, Found::Nothing), life == 0);
        assert_eq!(world.remaining(3, "k", seconds(life)), 50 - life);
        assert!(world.admits(3, "k", 1, seconds(life)));
        let written = file.save(&world.store, seconds(life), || {}).expect("saved");
        assert_eq!((written.keys, written.bytes), (1, fs::metadata(&path).expect("a file").len()));
    }
    assert_eq!(names(folder.path()), ["counts", "counts.lock"]);
}

#[test]
fn nobody_else_may_read_what_keys_are_hashed_with() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("counts");
    // What a killed process, or somebody else, left there is not written into.
    fs::write(folder.path().join("counts.new"), "half").expect("written");
    let (file, world, _) = open(&path, seconds(0));
    file.save(&world.store, seconds(0), || {}).expect("saved");
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&folder.path().join("counts.lock")), 0o600);
}

#[test]
fn two_at_once_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("counts");
    let first = SnapshotFile::lock(&path).expect("nobody holds it");
    let error = SnapshotFile::lock(&path).expect_err("somebody holds it");
    assert!(matches!(error, SnapshotFileError::Taken { .. }));
    let said = error.to_string();
    assert!(
        said.starts_with(&format!(
            "another gateway (process {}) keeps its counts in ",
            std::process::id()
        )),
        "{said}"
    );
    drop(first);
    assert!(SnapshotFile::lock(&path).is_ok(), "it is let go of with its holder");
}

#[test]
fn a_wrong_file_is_put_aside_and_counting_begins_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("counts");
    fs::write(&path, "my shopping list").expect("written");
    let (file, world, found) = open(&path, seconds(0));
    let Found::Damaged { error: SnapshotError::Foreign, aside: Ok(aside) } = found else {
        panic!("{found:?}");
    };
    assert_eq!(fs::read_to_string(&aside).expect("it is there"), "my shopping list");
    file.save(&world.store, seconds(0), || {}).expect("saved");
    drop(file);
    assert!(matches!(open(&path, seconds(1)).2, Found::Counts(_)));
    assert_eq!(names(folder.path()), ["counts", "counts.damaged", "counts.lock"]);
}

#[test]
fn the_file_of_another_is_read_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("counts");
    let (file, world, _) = open(&path, seconds(0));
    assert!(world.admits(3, "k", 5, seconds(0)));
    file.save(&world.store, seconds(0), || {}).expect("saved");
    let of_another = || {
        let (options, definitions) = (MemoryOptions::default(), every_kind());
        let opened = SnapshotFile::open_of_another(&path, options, &definitions, seconds(1));
        let (store, found) = opened.expect("opened");
        let ids = store.define(&definitions, seconds(1));
        (World { store, definitions, ids }, found)
    };
    let (next, found) = of_another();
    assert!(matches!(found, Found::Counts(_)));
    assert_eq!(next.remaining(3, "k", seconds(1)), 45);
    fs::write(&path, "my shopping list").expect("written");
    assert!(matches!(of_another().1, Found::Damaged { aside: Err(_), .. }));
    assert_eq!(names(folder.path()), ["counts", "counts.lock"], "it is not ours to put aside");
}

#[test]
fn a_file_that_cannot_be_replaced_stays_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("counts");
    let (file, world, _) = open(&path, seconds(0));
    file.save(&world.store, seconds(0), || {}).expect("saved");
    let before = fs::read(&path).expect("a file");
    assert!(world.admits(3, "k", 1, seconds(1)));
    fs::create_dir(folder.path().join("counts.new")).expect("in the way");
    file.save(&world.store, seconds(1), || {}).expect_err("something is in the way");
    assert_eq!(fs::read(&path).expect("a file"), before);
    fs::remove_dir(folder.path().join("counts.new")).expect("out of the way");
    file.save(&world.store, seconds(1), || {}).expect("saved");
    assert_ne!(fs::read(&path).expect("a file"), before);
}

#[test]
fn a_folder_that_is_not_there_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = SnapshotFile::lock(&folder.path().join("no/such/counts")).expect_err("no folder");
    assert!(matches!(error, SnapshotFileError::Unlockable { .. }));
    assert!(error.to_string().contains("the folder of `snapshot` must be there"), "{error}");
}

#[test]
fn something_that_cannot_be_read_is_no_first_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("counts");
    // Opening a link that leads in a circle fails for every user.
    std::os::unix::fs::symlink(&path, &path).expect("a link");
    let file = SnapshotFile::lock(&path).expect("nobody holds it");
    let error =
        file.open(MemoryOptions::default(), &every_kind(), seconds(0)).expect_err("a circle");
    assert!(matches!(error, SnapshotFileError::Unopened { .. }), "{error}");
}

#[test]
fn a_folder_in_the_files_place_is_put_aside() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("counts");
    fs::create_dir(&path).expect("a folder");
    let (_, _, found) = open(&path, seconds(0));
    assert!(
        matches!(found, Found::Damaged { error: SnapshotError::Unreadable(_), .. }),
        "{found:?}"
    );
}

#[test]
fn an_unbounded_store_goes_on_too() {
    let definitions = every_kind();
    let store = MemoryStore::new(MemoryOptions::unbounded());
    let ids = store.define(&definitions, seconds(0));
    let world = World { store, definitions, ids };
    assert!(world.admits(7, "k", 5, seconds(1)));
    let bytes = world.written(seconds(1));
    let (store, _) =
        MemoryStore::restore(&bytes[..], MemoryOptions::unbounded(), &every_kind(), seconds(1))
            .expect("whole");
    let ids = store.define(&every_kind(), seconds(1));
    assert_eq!(World { store, definitions: every_kind(), ids }.remaining(7, "k", seconds(1)), 45);
}
