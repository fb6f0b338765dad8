//! What the end of an agent's process means for its run.

use std::time::Duration;

use span::Span;

use crate::output::{Answer, OutputError};

/// The exit status by which an agent says "later": its rate limit, an overloaded model (`EX_TEMPFAIL` of sysexits.h).
pub const LATER: i32 = 75;

/// How an agent's process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this status.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// It was ended because it ran for this long.
    TimedOut(Duration),
    /// Who watched over it was killed, and with it the knowledge of how it ended.
    Lost,
    /// It never began.
    NotStarted {
        /// The program as it was called.
        program: String,
        /// What the system said.
        why: String,
    },
}

/// What a run came to. The texts are for people and stand in the run's `error`.
#[derive(Clone, Debug, PartialEq)]
pub enum RunVerdict {
    /// It has an answer.
    Succeeded(Answer),
    /// It failed; a retry is spent.
    Failed(String),
    /// It cannot be done now; it comes again after the backoff without spending a retry.
    Later(String),
}

/// Judges the end of a run; `read` reads the output and is called only when the process ended well.
///
/// Exit 0 with an answer succeeds, exit 75 is "later", all else fails.
pub fn judge_exit(exit: &Exit, read: impl FnOnce() -> Result<Answer, OutputError>) -> RunVerdict {
    match exit {
        Exit::Code(0) => match read() {
            Ok(answer) => RunVerdict::Succeeded(answer),
            Err(error) => RunVerdict::Failed(error.to_string()),
        },
        Exit::Code(LATER) => RunVerdict::Later(format!("exit status {LATER}: the agent cannot do it now")),
        Exit::Code(code) => RunVerdict::Failed(format!("exit status {code}")),
        Exit::Signal(signal) => RunVerdict::Failed(match signal_name(*signal) {
            Some(name) => format!("ended by signal {signal} ({name})"),
            None => format!("ended by signal {signal}"),
        }),
        Exit::TimedOut(after) => RunVerdict::Failed(format!("timed out after {}", Span(*after))),
        Exit::Lost => {
            RunVerdict::Failed("the process that watched over the run was killed, and the run with it".into())
        }
        Exit::NotStarted { program, why } => RunVerdict::Failed(format!("could not start `{program}`: {why}")),
    }
}

/// The names of signals whose numbers are the same on every system that Doorbell runs on.
fn signal_name(signal: i32) -> Option<&'static str> {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return None,
    };
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn said(text: &str) -> Answer {
        Answer { text: text.to_owned(), ..Answer::default() }
    }

    fn failure(exit: &Exit) -> String {
        match judge_exit(exit, || panic!("the output of a failed process is not read")) {
            RunVerdict::Failed(why) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn only_exit_0_with_an_answer_succeeds() {
        assert_eq!(judge_exit(&Exit::Code(0), || Ok(said("fine"))), RunVerdict::Succeeded(said("fine")));
        let empty = judge_exit(&Exit::Code(0), || Err(OutputError::EmptyAnswer));
        assert!(matches!(empty, RunVerdict::Failed(why) if why.contains("empty_answer")));
    }

    #[test]
    fn failures_say_how_it_ended() {
        assert_eq!(failure(&Exit::Code(7)), "exit status 7");
        assert_eq!(failure(&Exit::Signal(9)), "ended by signal 9 (SIGKILL)");
        assert_eq!(failure(&Exit::Signal(33)), "ended by signal 33");
        assert_eq!(failure(&Exit::TimedOut(Duration::from_mins(15))), "timed out after 15m");
        let gone = Exit::NotStarted { program: "no-such-agent".into(), why: "No such file or directory".into() };
        assert_eq!(failure(&gone), "could not start `no-such-agent`: No such file or directory");
    }

    proptest! {
        #[test]
        fn every_status_is_judged(code: i32) {
            let verdict = judge_exit(&Exit::Code(code), || Ok(said("x")));
            prop_assert_eq!(matches!(verdict, RunVerdict::Succeeded(_)), code == 0);
            prop_assert_eq!(matches!(verdict, RunVerdict::Later(_)), code == 75);
        }
    }
}
