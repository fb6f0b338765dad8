//! Finding and ending the processes of a job when no warden can: each carries an entry in its environment that names the job.
//!
//! Linux shows the environment that a process was started with in `/proc/PID/environ`; a child has its parent's until it
//! starts another program, and then what it was given. So only a program that clears the environment of its children
//! *and* loses its warden leaves something that is not found here.

use std::collections::HashSet;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpid, kill_process};

/// How often those that are ending are looked for.
const LOOK: Duration = Duration::from_millis(20);
/// How long the system may take to end what was killed. Longer takes only what hangs in the system itself.
const KILLED: Duration = Duration::from_secs(10);

/// The entry in the environment of every process of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    name: &'static str,
    value: String,
}

impl Mark {
    /// Of an agent's run: `DOORBELL_RUN_ID=run_…`, which agents read too.
    pub fn run(run_id: &str) -> Mark {
        Mark { name: "DOORBELL_RUN_ID", value: run_id.to_owned() }
    }

    /// Of the program that tells a delivery: `DOORBELL_DELIVERY=dlv_…`.
    pub fn delivery(delivery_id: &str) -> Mark {
        Mark { name: "DOORBELL_DELIVERY", value: delivery_id.to_owned() }
    }

    /// Of a run's `stop_command`: `DOORBELL_STOP=run_…`.
    pub fn stop(run_id: &str) -> Mark {
        Mark { name: "DOORBELL_STOP", value: run_id.to_owned() }
    }

    /// Name and value of the entry.
    pub(super) fn entry(&self) -> (&str, &str) {
        (self.name, &self.value)
    }

    /// Whether an environment as `/proc` shows it, entries that each end with a NUL, holds the entry.
    fn is_in(&self, environ: &[u8]) -> bool {
        let wanted = format!("{}={}", self.name, self.value);
        environ.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
    }
}

/// All processes that carry the mark, ourselves left out. Those whose environment we may not read belong to others;
/// those that have ended and wait to be collected have none.
fn bearers(mark: &Mark) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let us = getpid();
    entries
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
            (pid != us && mark.is_in(&fs::read(entry.path().join("environ")).ok()?)).then_some(pid)
        })
        .collect()
}

/// Lets go on what was halted: a warden among them does its work then.
pub(super) fn wake(mark: &Mark) {
    for pid in bearers(mark) {
        let _ = kill_process(pid, Signal::CONT);
    }
}

/// Ends all processes that carry the mark: politely, and after `grace` without asking. Blocks the thread until none is left; an
/// error when the system does not end one that was killed.
pub(super) fn sweep(mark: &Mark, grace: Duration) -> std::io::Result<()> {
    let began = Instant::now();
    let mut asked = HashSet::new();
    let mut none_before = false;
    loop {
        let found = bearers(mark);
        // Once is not enough: a process that is just starting another program shows no environment for a moment.
        if found.is_empty() && none_before {
            return Ok(());
        }
        none_before = found.is_empty();
        if let Some(one) = found.first()
            && began.elapsed() >= grace + KILLED
        {
            return Err(std::io::Error::other(format!("process {one} was killed and does not end")));
        }
        let politely = began.elapsed() < grace;
        for pid in found {
            // Each may have ended by itself in the meantime: that is what is wanted.
            if !politely {
                let _ = kill_process(pid, Signal::KILL);
            } else if asked.insert(pid) {
                let _ = kill_process(pid, Signal::TERM);
                let _ = kill_process(pid, Signal::CONT);
            }
        }
        thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_entry_is_the_mark() {
        let mark = Mark::run("run_1");
        for environ in [&b"DOORBELL_RUN_ID=run_1\0"[..], b"A=1\0DOORBELL_RUN_ID=run_1\0B=2\0", b"DOORBELL_RUN_ID=run_1"]
        {
            assert!(mark.is_in(environ), "{}", environ.escape_ascii());
        }
        let others: [&[u8]; 7] = [
            b"",
            b"\0\0",
            b"DOORBELL_RUN_ID=run_12\0",
            b"DOORBELL_RUN_ID=run_\0\x31\0",
            b"XDOORBELL_RUN_ID=run_1\0",
            b"NOTE=DOORBELL_RUN_ID=run_1\0",
            b"\xff\xfe=run_1\0DOORBELL_STOP=run_1\0",
        ];
        for environ in others {
            assert!(!mark.is_in(environ), "{}", environ.escape_ascii());
        }
    }

    #[test]
    fn nobody_carries_the_mark_of_a_job_that_never_was() {
        let mark = Mark::delivery("dlv_never");
        assert_eq!(bearers(&mark), []);
        sweep(&mark, Duration::ZERO).expect("nothing to end");
    }
}
