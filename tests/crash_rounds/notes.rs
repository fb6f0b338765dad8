//! What the agents noted, and who of them lives.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::support::*;

/// One line of the agents' log.
#[derive(Debug, Clone)]
pub(crate) struct Note {
    /// `START`, `FAIL` or `END`.
    pub(crate) mark: String,
    pub(crate) event: String,
    pub(crate) run: String,
    pub(crate) prompt: String,
}

pub(crate) fn notes(home: &Path) -> Vec<Note> {
    let text = fs::read_to_string(home.join("agents.log")).unwrap_or_default();
    let note = |line: &str| {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        let [mark, event, run, prompt] = words[..] else { panic!("not written in one piece: {line:?}") };
        Note { mark: mark.to_owned(), event: event.to_owned(), run: run.to_owned(), prompt: prompt.to_owned() }
    };
    text.lines().map(note).collect()
}

/// Processes with one of these entries in their environment.
pub(crate) fn with_entry(entries: &BTreeSet<String>) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let pid = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    processes
        .filter_map(pid)
        .filter(|pid| {
            let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ
                .split(|byte| *byte == 0)
                .any(|entry| std::str::from_utf8(entry).is_ok_and(|entry| entries.contains(entry)))
        })
        .collect()
}

/// After a death no agent of that gateway lives on: its warden ends it.
pub(crate) fn nothing_outlives(home: &Path) {
    let ours = BTreeSet::from([format!("DOORBELL_HOME={}", home.display())]);
    until("all agents of the dead gateway have ended", || with_entry(&ours).is_empty());
}
