//! An agent that is a shell script: it notes each run, and does what the test tells it through files in its folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::until_some;

const SCRIPT: &str = include_str!("agent.sh");

/// The stub agent. Without further words it answers `answer to: PROMPT` at once.
pub(crate) struct Agent {
    folder: TempDir,
}

/// What one run saw.
#[derive(Debug, Clone)]
pub(crate) struct SeenRun {
    pub(crate) id: String,
    pub(crate) prompt: String,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) cwd: String,
    pub(crate) pid: u32,
    /// What it left running: one process of its own group, one outside of it.
    pub(crate) children: Vec<u32>,
}

impl SeenRun {
    /// A variable of its environment; empty when it is not there.
    pub(crate) fn var(&self, name: &str) -> &str {
        self.env.get(name).map_or("", String::as_str)
    }
}

impl Agent {
    pub(crate) fn new() -> Agent {
        let folder = tempfile::Builder::new().prefix("agent-").tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("runs")).expect("a folder");
        fs::write(folder.path().join("agent.sh"), SCRIPT).expect("the script");
        Agent { folder }
    }

    /// An agent whose runs wait at a gate until [`Agent::open`].
    pub(crate) fn gated() -> Agent {
        let agent = Agent::new();
        agent.close();
        agent
    }

    /// An agent that always answers this.
    pub(crate) fn answering(answer: &str) -> Agent {
        let agent = Agent::new();
        agent.tell("answer", answer);
        agent
    }

    /// An agent whose first `runs` exit with `code`, what they print notwithstanding.
    pub(crate) fn failing(runs: u32, code: i32) -> Agent {
        let agent = Agent::new();
        agent.tell("fail", &format!("{runs} {code}"));
        agent
    }

    /// Sets a file that the script goes by: `answer`, `fail`, `stderr`, `work` (seconds), `ignore_term`, `leave_children`.
    pub(crate) fn tell(&self, file: &str, text: &str) {
        let path = self.path().join(file);
        let new = path.with_extension("new");
        fs::write(&new, format!("{text}\n")).and_then(|()| fs::rename(&new, &path)).expect("the agent is told");
    }

    /// Takes such a file away.
    pub(crate) fn forget(&self, file: &str) {
        fs::remove_file(self.path().join(file)).expect("the agent was told");
    }

    /// Shuts the gate: runs that come to it wait.
    pub(crate) fn close(&self) {
        // Agents may run as another user.
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        rustix::fs::mknodat(rustix::fs::CWD, self.gate(), FileType::Fifo, mode, 0).expect("a gate");
    }

    /// Lets all go that wait at the gate, and all that come after.
    pub(crate) fn open(&self) {
        // For reading and writing, which does not block: readers that wait in `open` get through, and see the end of
        // the stream when this end is dropped. Those that come later find no gate.
        let Ok(end) = rustix::fs::open(self.gate(), OFlags::RDWR, Mode::empty()) else { return };
        fs::remove_file(self.gate()).expect("the gate is there");
        drop(end);
    }

    fn gate(&self) -> PathBuf {
        self.path().join("gate")
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// How the configuration calls it.
    pub(crate) fn options(&self) -> Value {
        let script = self.path().join("agent.sh");
        json!({"preset": "command", "command": ["sh", script, self.path()], "hint": false})
    }

    /// The same with further keys.
    pub(crate) fn options_with(&self, more: Value) -> Value {
        let mut options = self.options();
        let Value::Object(more) = more else { panic!("keys are a mapping") };
        options.as_object_mut().expect("a mapping").extend(more);
        options
    }

    fn order(&self) -> Vec<(bool, String)> {
        let text = fs::read_to_string(self.path().join("order")).unwrap_or_default();
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        let mark = |line: &str| line.split_once(' ').map(|(word, id)| (word == "START", id.to_owned()));
        whole.lines().filter_map(mark).collect()
    }

    /// The runs that began, in the order in which they did.
    pub(crate) fn runs(&self) -> Vec<SeenRun> {
        self.order().into_iter().filter(|(start, _)| *start).map(|(_, id)| self.seen(id)).collect()
    }

    fn seen(&self, id: String) -> SeenRun {
        let read = |name: &str| {
            let bytes = fs::read(self.path().join("runs").join(&id).join(name)).expect("the run's notes");
            String::from_utf8(bytes).expect("UTF-8")
        };
        let pair = |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        let pid = |line: &str| line.trim().parse().expect("a process id");
        SeenRun {
            prompt: read("prompt"),
            env: read("env").split('\0').filter_map(pair).collect(),
            cwd: read("cwd").trim_end().to_owned(),
            pid: pid(&read("pid")),
            children: read("children").lines().map(pid).collect(),
            id,
        }
    }

    /// The prompts of the runs that began, in their order.
    pub(crate) fn prompts(&self) -> Vec<String> {
        self.runs().into_iter().map(|run| run.prompt).collect()
    }

    /// Waits until so many runs have begun; answers them.
    pub(crate) fn wait_runs(&self, count: usize) -> Vec<SeenRun> {
        until_some(&format!("{count} runs have begun"), || Some(self.runs()).filter(|runs| runs.len() >= count))
    }

    /// The largest number of runs, of those that are wanted, between whose starts and ends no time was.
    pub(crate) fn most_at_once(&self, wanted: impl Fn(&SeenRun) -> bool) -> usize {
        let wanted: BTreeSet<String> = self.runs().into_iter().filter(wanted).map(|run| run.id).collect();
        let (mut now, mut most) = (0, 0);
        for (start, id) in self.order() {
            if wanted.contains(&id) {
                now = if start { now + 1 } else { now - 1 };
                most = most.max(now);
            }
        }
        most
    }
}
