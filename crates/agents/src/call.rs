//! One call of an agent: everything that the gateway needs to start the process.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use crate::agent::{Agent, PROMPT_FILE, RUN_ID};
use crate::environment::{inherited, without_nul};
use crate::hint;
use crate::options::PromptVia;

/// What is known about one run.
#[derive(Clone, Copy)]
pub struct CallFacts<'a> {
    /// The run's id, `run_…`.
    pub run_id: &'a str,
    /// The event's id, `ev_…`.
    pub event_id: &'a str,
    /// The route's name.
    pub route: &'a str,
    /// The event's type, as the source calls it.
    pub event_type: &'a str,
    /// The provider's id of the delivery.
    pub delivery_id: &'a str,
    /// Which try of the event this is, from 1.
    pub attempt: u32,
    /// How many agents the event has come through.
    pub hop: u32,
    /// The session's value, when the route has one.
    pub session: Option<&'a str>,
    /// Doorbell's home folder, absolute.
    pub home: &'a str,
    /// The trace that the run belongs to, as a W3C `traceparent` of version 00.
    pub traceparent: &'a str,
    /// The rendered prompt.
    pub prompt: &'a str,
    /// Where the prompt's file goes, absolute; used with `prompt_via: file` only.
    pub prompt_file: &'a str,
    /// The gateway's whole environment as (name, value); the agent's allow list is applied here.
    pub environment: &'a [(String, String)],
}

/// A file that must be there, readable by the gateway's user only (0600), for as long as the run.
#[derive(Clone, PartialEq, Eq)]
pub struct PromptFile {
    /// Its path.
    pub path: String,
    /// All of its content.
    pub content: String,
}

/// How a process is to be started.
#[derive(Clone, PartialEq, Eq)]
pub struct Call {
    /// The program and its arguments; never empty, never through a shell.
    pub argv: Vec<String>,
    /// The whole environment, sorted by name: the process inherits nothing else.
    pub env: Vec<(String, String)>,
    /// The folder to run in; none = the gateway's own.
    pub cwd: Option<String>,
    /// What to write on stdin before closing it; none = nothing, closed at once.
    pub stdin: Option<String>,
    /// The prompt's file, when it goes by file.
    pub prompt_file: Option<PromptFile>,
    /// What to run when the run is ended from outside.
    pub stop: Option<Stop>,
}

/// How the command that ends what a run left behind is to be started; nothing on its stdin.
#[derive(Clone, PartialEq, Eq)]
pub struct Stop {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The whole environment, sorted by name.
    pub env: Vec<(String, String)>,
    /// The folder to run in; none = the gateway's own.
    pub cwd: Option<String>,
}

impl Agent {
    /// How this agent is called for one run.
    pub fn call(&self, facts: &CallFacts) -> Call {
        let prompt = if self.hint { hint::before(facts.prompt, facts.attempt) } else { facts.prompt.to_owned() };
        let by_file = self.prompt_via == PromptVia::File;
        let command = self.command.iter().map(|argument| match self.prompt_via {
            PromptVia::File => argument.replace(PROMPT_FILE, facts.prompt_file),
            PromptVia::Stdin => argument.clone(),
        });
        let (stdin, prompt_file) = if by_file {
            (None, Some(PromptFile { path: facts.prompt_file.to_owned(), content: prompt }))
        } else {
            (Some(prompt), None)
        };
        Call {
            argv: with_run_id(&self.wrap, facts.run_id).chain(command).collect(),
            env: self.environment(facts, by_file),
            cwd: self.folder(facts.home),
            stdin,
            prompt_file,
            stop: self.stop(facts.run_id, facts.home, facts.environment),
        }
    }

    /// How `stop_command` is called for a run, also one of an earlier gateway that is known by its id only.
    ///
    /// Its environment is the agent's without the facts of the run, `DOORBELL_RUN_ID` and `DOORBELL_HOME` excepted.
    pub fn stop(&self, run_id: &str, home: &str, environment: &[(String, String)]) -> Option<Stop> {
        let argv = with_run_id(self.stop_command.as_ref()?, run_id).collect();
        let mut env = self.base(environment);
        put(&mut env, "DOORBELL_RUN_ID", run_id);
        put(&mut env, "DOORBELL_HOME", home);
        Some(Stop { argv, env: env.into_iter().collect(), cwd: self.folder(home) })
    }

    /// What is inherited and added, before any fact.
    fn base(&self, environment: &[(String, String)]) -> BTreeMap<String, String> {
        let names: Vec<&String> = self.inherit_env.iter().chain(&self.wrap_env).collect();
        let mut env = inherited(&names, environment);
        for (name, value) in &self.env {
            put(&mut env, name, value);
        }
        env
    }

    /// The whole environment; the facts go in last, so that nothing stands in their place.
    fn environment(&self, facts: &CallFacts, by_file: bool) -> Vec<(String, String)> {
        let mut env = self.base(facts.environment);
        put(&mut env, "DOORBELL_RUN_ID", facts.run_id);
        put(&mut env, "DOORBELL_EVENT_ID", facts.event_id);
        put(&mut env, "DOORBELL_ROUTE", facts.route);
        put(&mut env, "DOORBELL_EVENT_TYPE", facts.event_type);
        put(&mut env, "DOORBELL_DELIVERY_ID", facts.delivery_id);
        put(&mut env, "DOORBELL_ATTEMPT", &facts.attempt.to_string());
        put(&mut env, "DOORBELL_HOP", &facts.hop.to_string());
        put(&mut env, "DOORBELL_HOME", facts.home);
        put(&mut env, "TRACEPARENT", facts.traceparent);
        if let Some(session) = facts.session {
            put(&mut env, "DOORBELL_SESSION", session);
        }
        if by_file {
            put(&mut env, "DOORBELL_PROMPT_FILE", facts.prompt_file);
        }
        env.into_iter().collect()
    }

    fn folder(&self, home: &str) -> Option<String> {
        self.cwd.as_ref().map(|cwd| Path::new(home).join(cwd).to_string_lossy().into_owned())
    }
}

fn put(env: &mut BTreeMap<String, String>, name: &str, value: &str) {
    env.insert(name.to_owned(), without_nul(value));
}

fn with_run_id<'a>(argv: &'a [String], run_id: &'a str) -> impl Iterator<Item = String> + 'a {
    argv.iter().map(move |argument| argument.replace(RUN_ID, run_id))
}

/// The prompt and values of the environment are not for logs; so these three show lengths and names in their place.
impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("argv", &self.argv)
            .field("env", &names(&self.env))
            .field("cwd", &self.cwd)
            .field("stdin_bytes", &self.stdin.as_ref().map(String::len))
            .field("prompt_file", &self.prompt_file)
            .field("stop", &self.stop)
            .finish()
    }
}

impl fmt::Debug for PromptFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptFile").field("path", &self.path).field("bytes", &self.content.len()).finish()
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Stop");
        shown.field("argv", &self.argv).field("env", &names(&self.env)).field("cwd", &self.cwd).finish()
    }
}

fn names(env: &[(String, String)]) -> Vec<&str> {
    env.iter().map(|(name, _)| name.as_str()).collect()
}

#[cfg(test)]
mod tests;
