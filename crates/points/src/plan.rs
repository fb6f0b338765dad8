//! What is to happen where.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::NAMES;

/// The variable that holds the plan.
pub(crate) const VARIABLE: &str = "DOORBELL_AT_POINT";

/// Entries `NAME#TIME=ACTION`, several separated by `;`. The action is taken the given time that the place is reached, counted from
/// 1; without `#TIME` it is taken every time. Actions: `kill` (SIGKILL to the own process), `panic`, `stall:MILLISECONDS`.
#[derive(Debug, Default)]
pub(crate) struct Plan(Vec<Entry>);

#[derive(Debug)]
struct Entry {
    name: &'static str,
    time: Option<u64>,
    action: Action,
    reached: AtomicU64,
}

/// What happens at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Kill,
    Panic,
    Stall(Duration),
}

impl Plan {
    /// The error says which entry is wrong and why.
    pub(crate) fn parse(text: &str) -> Result<Plan, String> {
        let entries = text.split(';').map(str::trim).filter(|entry| !entry.is_empty());
        entries
            .map(|entry| Entry::parse(entry).map_err(|why| format!("{entry}: {why}")))
            .collect::<Result<_, _>>()
            .map(Plan)
    }

    /// What is to be done now that a place is reached once more.
    pub(crate) fn reached(&self, name: &str) -> Option<Action> {
        let mut due = None;
        for entry in self.0.iter().filter(|entry| entry.name == name) {
            let times = entry.reached.fetch_add(1, Ordering::SeqCst) + 1;
            if due.is_none() && entry.time.is_none_or(|time| time == times) {
                due = Some(entry.action);
            }
        }
        due
    }
}

impl Entry {
    fn parse(text: &str) -> Result<Entry, String> {
        let (place, action) = text.split_once('=').ok_or("wanted: NAME#TIME=ACTION")?;
        let (name, time) = match place.split_once('#') {
            Some((name, time)) => {
                (name, Some(time.parse().ok().filter(|time| *time > 0).ok_or("the time is a number from 1")?))
            }
            None => (place, None),
        };
        let name = NAMES.iter().find(|known| **known == name).ok_or_else(|| format!("there is no point {name}"))?;
        Ok(Entry { name, time, action: Action::parse(action)?, reached: AtomicU64::new(0) })
    }
}

impl Action {
    fn parse(text: &str) -> Result<Action, String> {
        match (text, text.strip_prefix("stall:").map(str::parse)) {
            ("kill", _) => Ok(Action::Kill),
            ("panic", _) => Ok(Action::Panic),
            (_, Some(Ok(millis))) => Ok(Action::Stall(Duration::from_millis(millis))),
            _ => Err(format!("there is no action {text}; there are kill, panic and stall:MILLISECONDS")),
        }
    }

    pub(crate) fn act(self, name: &str) {
        match self {
            Action::Kill => {
                let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
                // The signal is there before the call has returned; nothing more is done in any case.
                loop {
                    std::thread::park();
                }
            }
            Action::Panic => panic!("wanted at the point {name}"),
            Action::Stall(time) => std::thread::sleep(time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_due_at_its_time_only_and_without_a_time_always() {
        let plan = Plan::parse("admit.event#2=kill; admit.request=stall:5 ;").unwrap();
        let kinds: Vec<_> = (0..3).map(|_| plan.reached("admit.event")).collect();
        assert_eq!(kinds, [None, Some(Action::Kill), None]);
        let kinds: Vec<_> = (0..2).map(|_| plan.reached("admit.request")).collect();
        assert_eq!(kinds, [Some(Action::Stall(Duration::from_millis(5))); 2]);
        assert_eq!(plan.reached("admit.key"), None);
    }

    #[test]
    fn no_plan_does_nothing() {
        assert_eq!(Plan::parse("").unwrap().reached("admit.event"), None);
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for (text, why) in [
            ("admit.event", "wanted: NAME#TIME=ACTION"),
            ("nowhere=kill", "there is no point nowhere"),
            ("admit.event#0=kill", "a number from 1"),
            ("admit.event#x=kill", "a number from 1"),
            ("admit.event=dance", "there is no action dance"),
            ("admit.event=stall:soon", "there is no action stall:soon"),
            ("admit.event=kill;admit.request=", "admit.request=: there is no action"),
        ] {
            let error = Plan::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn every_name_is_listed_once() {
        let mut names = NAMES.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), NAMES.len());
    }
}
