//! Any lines as a log in each of its forms: requests, or errors that can be shown.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tollgate_core::Timestamp;
use tollgate_sim::Record;
use tollgate_sim::format::{Format, Read};

fuzz_target!(|data: &[u8]| {
    let Some((&choice, text)) = data.split_first() else { return };
    let (_, format) = Format::ALL[usize::from(choice) % Format::ALL.len()];
    let mut reader = format.reader();
    let mut record = Record::default();
    for line in String::from_utf8_lossy(text).lines() {
        record.clear();
        match reader.read(line, &mut record) {
            Ok(Read::Request) => is_request(&record),
            Ok(Read::Preamble) => {}
            Err(bad) => assert!(!bad.to_string().is_empty(), "what is refused says why"),
        }
    }
});

/// What a decision would ask of the record can be asked.
fn is_request(record: &Record) {
    assert!(record.time <= Timestamp::MAX);
    assert!(!record.method().is_empty(), "a method");
    assert!(!record.path().is_empty(), "a path");
    assert!(!record.path().contains('?'), "a path without its query");
    for (name, value) in record.headers() {
        assert!(!name.bytes().any(|byte| byte.is_ascii_uppercase()), "{name}: {value}");
    }
    let _ = (record.query(), record.body());
}
