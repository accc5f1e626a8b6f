//! A test's own program, started again as a node that takes what it gets.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A process that waits for a word before it takes anything.
pub(crate) struct Process {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts this program again, with the test `node` alone and `settings` in its environment. The test says on its output
    /// `node ready`, waits for a line, and says `node admitted N` at its end.
    pub(crate) fn start(node: &str, settings: &[(&str, &str)]) -> Process {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", node, "--nocapture"])
            .envs(settings.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let mut process = Process { child, output };
        process.hear("ready");
        process
    }

    /// Says the word.
    pub(crate) fn go(&mut self) {
        self.child.stdin.as_mut().expect("its input").write_all(b"go\n").expect("it listens");
    }

    /// What it admitted, when it has ended.
    pub(crate) fn admitted(&mut self) -> u64 {
        let admitted = self.hear("admitted");
        assert!(self.child.wait().is_ok_and(|status| status.success()));
        admitted.trim().parse().expect("a number")
    }

    /// The rest of the next line that begins with `word`.
    fn hear(&mut self, word: &str) -> String {
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).expect("its output");
            assert!(read > 0, "it ended before it was {word}");
            if let Some((_, rest)) = line.split_once(&format!("node {word}")) {
                return rest.to_owned();
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
