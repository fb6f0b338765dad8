//! Processes: starting commands, and seeing whether one is alive.

use std::fs;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// A command. The product's rule about who may start processes is not for tests.
#[expect(clippy::disallowed_methods, reason = "tests start the product")]
pub(super) fn command(program: &str) -> Command {
    Command::new(program)
}

/// Whether a process runs; one that has ended and waits to be collected does not.
pub(crate) fn alive(pid: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // The name stands in parentheses and may itself hold any character; the state comes right after it.
    stat.rsplit_once(')').is_some_and(|(_, rest)| !matches!(rest.trim_start().chars().next(), None | Some('Z' | 'X')))
}

/// The parent of a process that runs.
pub(crate) fn parent(pid: u32) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process runs");
    let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().nth(1)?.parse().ok());
    parent.expect("a parent")
}

/// Time of the processor that a process has used.
pub(crate) fn cpu(pid: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process runs");
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_ascii_whitespace();
    // utime and stime, in hundredths of a second (USER_HZ).
    let ticks: u64 = fields.skip(11).take(2).map(|field| field.parse::<u64>().expect("a number")).sum();
    Duration::from_millis(10 * ticks)
}

/// SIGKILL to a process.
pub(crate) fn kill(pid: u32) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process id");
    kill_process(pid, Signal::KILL).expect("the process runs");
}

/// Options of an agent that is one line of shell.
pub(crate) fn shell(line: &str) -> serde_json::Value {
    serde_json::json!({"preset": "command", "command": ["sh", "-c", line], "hint": false})
}
