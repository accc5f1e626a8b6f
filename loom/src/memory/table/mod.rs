//! Two lines and two threads.

mod atomic;
#[path = "../../../../crates/tollgate-store/src/memory/table/line.rs"]
mod line;

use atomic::{AtomicU64, Ordering};
use line::{Entry, Line, VERSION, Width};
use loom::sync::Arc;
use loom::thread;

/// The key that either line holds.
const KEY: u64 = 7;

/// How often a key may be charged.
const LIMIT: u64 = 1;

type Lines = [Line; 2];

/// What a line said, and under which header.
#[derive(Clone, Copy)]
struct Read {
    header: u64,
    entry: usize,
    count: u64,
}

fn lines() -> Lines {
    [(); 2].map(|()| {
        let line: Line = std::array::from_fn(|_| AtomicU64::new(0));
        line::set_entry(&line, Width::One, 0, &Entry { index: 0, fingerprint: KEY, words: [0; 2] });
        line
    })
}

/// Reads a key as a table does; `None` where its line changed meanwhile.
fn read(line: &Line) -> Option<Read> {
    let header = line::unlocked(line);
    let entry = line::find(line, Width::One, KEY).expect("every line has it");
    let count = line::words(line, Width::One, entry)[0];
    line::still(line, header).then_some(Read { header, entry, count })
}

/// Reads both, as they were at one moment.
fn read_both(lines: &Lines) -> Option<[Read; 2]> {
    let both = [read(&lines[0])?, read(&lines[1])?];
    still_both(lines, &both).then_some(both)
}

fn still_both(lines: &Lines, both: &[Read; 2]) -> bool {
    lines.iter().zip(both).all(|(line, read)| line::still(line, read.header))
}

/// One attempt at charging both keys or none; `None` where another was met.
fn attempt(lines: &Lines) -> Option<bool> {
    let both = [read(&lines[0])?, read(&lines[1])?];
    if both.iter().any(|read| read.count >= LIMIT) {
        return still_both(lines, &both).then_some(false);
    }
    if !line::try_lock(&lines[0], both[0].header) {
        return None;
    }
    if !line::try_lock(&lines[1], both[1].header) {
        line::unlock_unchanged(&lines[0], both[0].header);
        return None;
    }
    for (line, read) in lines.iter().zip(&both) {
        line::set_words(line, Width::One, read.entry, [read.count + 1, 0]);
    }
    for (line, read) in lines.iter().zip(&both) {
        line::unlock_changed(line, read.header);
    }
    Some(true)
}

fn charge(lines: &Lines) -> bool {
    loop {
        if let Some(admitted) = attempt(lines) {
            return admitted;
        }
        thread::yield_now();
    }
}

#[test]
fn of_two_that_ask_for_the_last_unit_of_both_keys_one_gets_it() {
    loom::model(|| {
        let lines = Arc::new(lines());
        let [first, second] = [(); 2].map(|()| {
            let lines = lines.clone();
            thread::spawn(move || charge(&lines))
        });
        let first = first.join().expect("the first thread");
        let second = second.join().expect("the second thread");
        assert!(first != second, "admitted: {first} and {second}");
        for line in lines.iter() {
            assert_eq!(line::words(line, Width::One, 0)[0], LIMIT);
            assert_eq!(line[0].load(Ordering::Relaxed), VERSION, "unlocked, and changed once");
        }
    });
}

#[test]
fn who_reads_both_keys_sees_both_charged_or_neither() {
    loom::model(|| {
        let lines = Arc::new(lines());
        let other = thread::spawn({
            let lines = lines.clone();
            move || assert!(charge(&lines))
        });
        let reader = thread::spawn({
            let lines = lines.clone();
            move || {
                if let Some([first, second]) = read_both(&lines) {
                    assert_eq!(first.count, second.count);
                }
            }
        });
        reader.join().expect("the reader");
        other.join().expect("the other thread");
    });
}
