//! The processes below one: Linux tells each process's parent in `/proc/PID/stat`.

use std::collections::HashMap;
use std::fs;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, wait};

/// All processes below `root`. One that ends meanwhile is left out.
pub(super) fn below(root: Pid) -> Vec<Pid> {
    let mut children: HashMap<Pid, Vec<Pid>> = HashMap::new();
    for (pid, parent) in processes() {
        children.entry(parent).or_default().push(pid);
    }
    let mut found = Vec::new();
    let mut unseen = vec![root];
    while let Some(parent) = unseen.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            found.push(child);
            unseen.push(child);
        }
    }
    found
}

/// Each process with its parent.
fn processes() -> Vec<(Pid, Pid)> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
            Some((pid, parent(&fs::read_to_string(entry.path().join("stat")).ok()?)?))
        })
        .collect()
}

/// The parent in a line of `stat`: the second field behind the name, which is in parentheses and may itself hold any character.
fn parent(stat: &str) -> Option<Pid> {
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok().and_then(Pid::from_raw)
}

/// Sends a signal to a process group and to everything below us, in or out of the group.
pub(super) fn signal_all(group: Pid, signal: Signal) {
    // Each may have ended by itself in the meantime: that is what is wanted.
    let _ = kill_process_group(group, signal);
    for pid in below(rustix::process::getpid()) {
        let _ = kill_process(pid, signal);
    }
}

/// Collects what has ended; `true` when nothing is left below us. The program itself must have been waited for before.
pub(super) fn reap_all() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_hide_the_parent() {
        assert_eq!(parent("12 (a) S 9 (b)) S 7 12 12 0").map(Pid::as_raw_nonzero).map(i32::from), Some(7));
        assert_eq!(parent("1 (init) S 0 1 1 0"), None, "the first process has no parent");
        assert_eq!(parent("garbage"), None);
    }

    #[test]
    fn our_own_parent_has_us_below_it() {
        let us = rustix::process::getpid();
        let parent = rustix::process::getppid().expect("a test has a parent");
        assert!(below(parent).contains(&us));
        assert!(!below(us).contains(&us));
    }
}
