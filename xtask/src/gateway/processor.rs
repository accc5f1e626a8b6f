//! What the system tells of a process: its time on the processor, how long it had to wait for it, and its memory.

use std::fs;
use std::ops::Sub;

/// The system counts a process's time in user and system mode in hundredths of a second.
const TICKS: f64 = 100.0;

/// Readings of one process, and of the whole machine at the same moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading {
    /// Nanoseconds on a processor, all threads.
    running: f64,
    /// Nanoseconds ready to run while others did.
    waiting: f64,
    /// Seconds in user and in system mode. They are coarse: only their proportion is used.
    user: f64,
    system: f64,
    /// Seconds that the host of a virtual machine gave to others.
    stolen: f64,
}

impl Reading {
    /// Of the process `pid`, now.
    pub(super) fn of(pid: u32) -> Result<Reading, String> {
        let (running, waiting) = scheduled(pid)?;
        let (user, system) = modes(pid)?;
        Ok(Reading { running, waiting, user, system, stolen: stolen()? })
    }

    /// Microseconds on the processor for each of `requests`.
    pub(super) fn micros_each(&self, requests: f64) -> f64 {
        self.running / 1_000.0 / requests
    }

    /// The share of the processor's time that was spent in user mode.
    pub(super) fn user_share(&self) -> f64 {
        self.user / (self.user + self.system).max(1.0 / TICKS)
    }

    /// The share of the time in which it could not run though it was ready to: others were on its core, or the host was away.
    pub(super) fn disturbance(&self) -> f64 {
        (self.waiting + self.stolen * 1e9) / (self.running + self.waiting).max(1.0)
    }
}

impl Sub for Reading {
    type Output = Reading;

    fn sub(self, before: Reading) -> Reading {
        Reading {
            running: self.running - before.running,
            waiting: self.waiting - before.waiting,
            user: self.user - before.user,
            system: self.system - before.system,
            stolen: self.stolen - before.stolen,
        }
    }
}

/// Resident memory of the process `pid`, in bytes.
pub(super) fn resident(pid: u32) -> Result<f64, String> {
    let path = format!("/proc/{pid}/status");
    let kilobytes = read(&path)?
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok())
        .ok_or_else(|| format!("{path} does not tell VmRSS"))?;
    Ok(kilobytes * 1024.0)
}

/// Nanoseconds on a processor and ready for one, over all threads.
fn scheduled(pid: u32) -> Result<(f64, f64), String> {
    let folder = format!("/proc/{pid}/task");
    let threads = fs::read_dir(&folder).map_err(|error| format!("{folder}: {error}"))?;
    let mut sum = (0.0, 0.0);
    for thread in threads.filter_map(Result::ok) {
        let path = thread.path().join("schedstat");
        let numbers = numbers(&read(&path.to_string_lossy())?);
        sum.0 += numbers.first().copied().unwrap_or(0.0);
        sum.1 += numbers.get(1).copied().unwrap_or(0.0);
    }
    Ok(sum)
}

/// Seconds in user and in system mode.
fn modes(pid: u32) -> Result<(f64, f64), String> {
    let text = read(&format!("/proc/{pid}/stat"))?;
    // The name before the last parenthesis may hold anything.
    let fields = text.rsplit(')').next().unwrap_or_default();
    let ticks = |place: usize| fields.split_whitespace().nth(place)?.parse::<f64>().ok();
    match (ticks(11), ticks(12)) {
        (Some(user), Some(system)) => Ok((user / TICKS, system / TICKS)),
        _ => Err(format!("/proc/{pid}/stat does not tell the times")),
    }
}

/// Seconds that the host took from the whole machine since it began.
fn stolen() -> Result<f64, String> {
    let text = read("/proc/stat")?;
    let all = text.lines().next().and_then(|line| line.strip_prefix("cpu"));
    Ok(numbers(all.unwrap_or_default()).get(7).copied().unwrap_or(0.0) / TICKS)
}

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_can_be_read() {
        let pid = std::process::id();
        let before = Reading::of(pid).expect("a reading");
        let work: u64 = (0..20_000_000_u64).map(std::hint::black_box).sum();
        let spent = Reading::of(pid).expect("a reading") - before;
        assert!(work > 0 && spent.micros_each(1.0) > 0.0, "{spent:?}");
        assert!((0.0..=1.0).contains(&spent.user_share()), "{spent:?}");
        assert!(resident(pid).expect("memory") > 1e6);
        assert!(Reading::of(u32::MAX).is_err());
    }
}
