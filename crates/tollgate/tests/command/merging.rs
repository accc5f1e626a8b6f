//! Several files of requests.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::workshop::{Workshop, words};

const TWO_PER_3_S: &str = "
limits:
  it: { key: [], sliding_log: { limit: 2, window: 3s } }
routes: [{ match: { path: /** }, limits: [it] }]
";

fn lines(decisions: &[Value]) -> Vec<u64> {
    decisions.iter().map(|line| line["line"].as_u64().expect("a number")).collect()
}

fn requests(times: &[u64]) -> String {
    times.iter().map(|time| format!("{{\"time\":{time}}}\n")).collect()
}

#[test]
fn sim_04_files_are_merged_by_time() {
    let workshop = Workshop::with(TWO_PER_3_S);
    workshop.write("a.jsonl", requests(&[0, 2, 4]));
    workshop.write("b.jsonl", requests(&[1, 3, 5]));
    let decisions = workshop.replay(&["a.jsonl", "b.jsonl"], &[]);
    assert_eq!(words(&decisions), ["admit", "admit", "refuse", "admit", "admit", "refuse"]);
    assert_eq!(lines(&decisions), [1, 1, 2, 2, 3, 3]);
}

#[test]
fn each_file_keeps_its_order_and_at_one_moment_the_first_named_goes_first() {
    let workshop = Workshop::with(TWO_PER_3_S);
    workshop.write("a.jsonl", format!("\n{}", requests(&[10, 5, 20])));
    workshop.write("b.jsonl", requests(&[7, 10, 12]));
    let decisions = workshop.replay(&["a.jsonl", "b.jsonl"], &[]);
    // b's 7; a's 10, then its 5 at once; b's 10 and 12; a's 20. The blank line is counted.
    assert_eq!(lines(&decisions), [1, 2, 3, 2, 3, 4]);
    assert_eq!(words(&decisions), ["admit", "admit", "admit", "refuse", "refuse", "admit"]);
    let decisions = workshop.replay(&["b.jsonl", "a.jsonl"], &[]);
    assert_eq!(lines(&decisions), [1, 2, 2, 3, 3, 4]);
}

#[test]
fn packed_files_are_read_as_they_are() {
    let workshop = Workshop::with(TWO_PER_3_S);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(requests(&[0, 2]).as_bytes()).expect("memory takes everything");
    workshop.write("a", packed.finish().expect("memory takes everything"));
    workshop.write(
        "b",
        zstd::encode_all(requests(&[1]).as_bytes(), 1).expect("memory takes everything"),
    );
    let decisions = workshop.replay(&["a", "b"], &[]);
    assert_eq!(words(&decisions), ["admit", "admit", "refuse"]);
}
