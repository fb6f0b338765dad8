//! An agent as configured, checked.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::environment::{FACTS, is_name, is_pattern};
use crate::exit::{Exit, RunVerdict, judge_exit};
use crate::options::{AgentOptions, Output, PromptVia, Scope};
use crate::output::{Answer, OutputError};
use crate::preset::Preset;

/// The placeholder for the path of the prompt's file, in `command` and `args`.
pub(crate) const PROMPT_FILE: &str = "{prompt_file}";
/// The placeholder for the run's id, in `wrap` and `stop_command`.
pub(crate) const RUN_ID: &str = "{run_id}";

/// One thing wrong with an agent's options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {message}")]
pub struct AgentError {
    /// The key under `agents.<name>`, such as `timeout` or `env.A=B`.
    pub key: String,
    /// What is wrong and what to do.
    pub message: String,
}

impl AgentError {
    pub(crate) fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into() }
    }
}

/// An agent whose options were found right.
#[derive(Clone)]
pub struct Agent {
    /// Its name under `agents`.
    pub name: String,
    /// How it is called.
    pub preset: &'static Preset,
    /// The program and all its arguments, `{prompt_file}` not yet filled in; never empty.
    pub command: Vec<String>,
    /// The folder to run in, relative ones below Doorbell's home; none = the gateway's own.
    pub cwd: Option<String>,
    /// Variables added to the environment.
    pub env: BTreeMap<String, String>,
    /// Names of inherited variables, `*` at the end of one for any rest.
    pub inherit_env: Vec<String>,
    /// How long a run may take; above zero.
    pub timeout: Duration,
    /// How many runs may be in flight; above zero.
    pub max_concurrent: u32,
    /// Of which gateways.
    pub scope: Scope,
    /// How the prompt is handed over.
    pub prompt_via: PromptVia,
    /// How stdout is read.
    pub output: Output,
    /// How many bytes of stdout are kept; above zero.
    pub max_output_bytes: u64,
    /// Whether a note goes before the prompt.
    pub hint: bool,
    /// argv before the command, `{run_id}` not yet filled in; may be empty.
    pub wrap: Vec<String>,
    /// Names of variables that are inherited for the wrapper's sake.
    pub wrap_env: Vec<String>,
    /// argv that ends what a run left behind, `{run_id}` not yet filled in.
    pub stop_command: Option<Vec<String>>,
}

impl Agent {
    /// Checks the options of the agent called `name`; all errors at once.
    pub fn resolve(name: &str, options: AgentOptions) -> Result<Agent, Vec<AgentError>> {
        let Some(preset) = Preset::named(&options.preset) else {
            let known: Vec<_> = crate::presets().iter().map(|preset| format!("`{}`", preset.name)).collect();
            let message = format!("unknown preset `{}`; known: {}", options.preset, known.join(", "));
            return Err(vec![AgentError::new("preset", message)]);
        };
        let mut errors = Vec::new();
        let mut command = (preset.argv)(&options).unwrap_or_else(|error| {
            errors.push(error);
            Vec::new()
        });
        check_command_lines(&options, &mut errors);
        check_limits(&options, &mut errors);
        check_environment(&options, &mut errors);
        check_cwd(options.cwd.as_deref(), &mut errors);
        if !errors.is_empty() {
            return Err(errors);
        }
        command.extend(options.args);
        let inherited = || crate::environment::INHERITED.map(str::to_owned).to_vec();
        Ok(Agent {
            name: name.to_owned(),
            preset,
            command,
            cwd: options.cwd,
            env: options.env,
            inherit_env: options.inherit_env.unwrap_or_else(inherited),
            timeout: options.timeout.0,
            max_concurrent: options.max_concurrent,
            scope: options.scope,
            prompt_via: options.prompt_via,
            output: options.output.unwrap_or(preset.output),
            max_output_bytes: options.max_output_bytes.0,
            hint: options.hint,
            wrap: options.wrap,
            wrap_env: options.wrap_env,
            stop_command: options.stop_command,
        })
    }

    /// The program that a run starts first: the wrapper when there is one. `check` looks whether it is there.
    pub fn program(&self) -> &str {
        self.wrap.first().or(self.command.first()).map_or("", String::as_str)
    }

    /// Reads what a run printed; `cut` says that more was printed than `max_output_bytes`.
    pub fn read(&self, stdout: &[u8], cut: bool) -> Result<Answer, OutputError> {
        (self.preset.read)(self.output, stdout, cut.then_some(self.max_output_bytes))
    }

    /// What a run came to, by the end of its process and what it printed (at most `max_output_bytes`, see [`Agent::read`]).
    pub fn judge(&self, exit: &Exit, stdout: &[u8], cut: bool) -> RunVerdict {
        judge_exit(exit, || self.read(stdout, cut))
    }
}

/// Values of `env` may be secrets, so only names are shown.
impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("name", &self.name)
            .field("preset", &self.preset.name)
            .field("command", &self.command)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// What is wrong in the argv lists: placeholders in the wrong place, blanks, NUL.
fn check_command_lines(options: &AgentOptions, errors: &mut Vec<AgentError>) {
    let stop = options.stop_command.as_deref();
    for (key, argv) in [("command", &options.command), ("args", &options.args)] {
        no_nul(key, argv, errors);
        if options.prompt_via != PromptVia::File && holds(argv, PROMPT_FILE) {
            errors.push(AgentError::new(key, format!("`{PROMPT_FILE}` needs `prompt_via: file`")));
        }
        if holds(argv, RUN_ID) {
            let message = format!("`{RUN_ID}` stands only in `wrap` and `stop_command`; here use $DOORBELL_RUN_ID");
            errors.push(AgentError::new(key, message));
        }
    }
    for (key, argv) in [("wrap", options.wrap.as_slice()), ("stop_command", stop.unwrap_or_default())] {
        no_nul(key, argv, errors);
        if holds(argv, PROMPT_FILE) {
            let message =
                format!("`{PROMPT_FILE}` stands only in `command` and `args`; `{RUN_ID}` is the placeholder here");
            errors.push(AgentError::new(key, message));
        }
        if argv.first().is_some_and(|program| program.trim().is_empty()) {
            errors.push(AgentError::new(key, "the first entry is blank; it names the program"));
        }
    }
    if stop.is_some_and(<[String]>::is_empty) {
        errors.push(AgentError::new("stop_command", "empty: give the program and its arguments, or leave the key out"));
    }
}

fn holds(argv: &[String], placeholder: &str) -> bool {
    argv.iter().any(|argument| argument.contains(placeholder))
}

fn no_nul(key: &str, argv: &[String], errors: &mut Vec<AgentError>) {
    if holds(argv, "\0") {
        errors.push(AgentError::new(key, "holds a NUL character, which no program can be given"));
    }
}

fn check_limits(options: &AgentOptions, errors: &mut Vec<AgentError>) {
    if options.timeout.is_zero() {
        let message = "0 is no timeout: there is no \"no limit\"; write a long one such as 7d";
        errors.push(AgentError::new("timeout", message));
    }
    if options.max_concurrent == 0 {
        errors.push(AgentError::new("max_concurrent", "must be 1 or more; to stop runs, pause the route"));
    }
    if options.max_output_bytes.0 == 0 {
        errors.push(AgentError::new("max_output_bytes", "must be 1 or more: nothing kept is no answer"));
    }
}

fn check_environment(options: &AgentOptions, errors: &mut Vec<AgentError>) {
    for name in options.env.keys() {
        let key = format!("env.{name}");
        if !is_name(name) {
            errors.push(AgentError::new(key, "not a name of an environment variable"));
        } else if FACTS.contains(&name.as_str()) {
            errors.push(AgentError::new(key, "set by Doorbell for each run; choose another name"));
        }
    }
    let inherited = options.inherit_env.as_deref().unwrap_or_default();
    for (key, names) in [("inherit_env", inherited), ("wrap_env", &options.wrap_env)] {
        for name in names.iter().filter(|name| !is_pattern(name)) {
            let message = format!("`{name}` is not a name; `*` may stand only at its end, as in LC_*");
            errors.push(AgentError::new(key, message));
        }
    }
    if !options.wrap_env.is_empty() && options.wrap.is_empty() {
        errors.push(AgentError::new("wrap_env", "needs `wrap`; for an agent without wrapper use inherit_env"));
    }
}

fn check_cwd(cwd: Option<&str>, errors: &mut Vec<AgentError>) {
    let Some(cwd) = cwd else { return };
    if cwd.trim().is_empty() {
        errors.push(AgentError::new("cwd", "blank: give a folder, or leave the key out"));
    } else if cwd.starts_with('~') {
        errors.push(AgentError::new("cwd", "`~` is not expanded; write ${HOME}"));
    } else if cwd.contains('\0') {
        errors.push(AgentError::new("cwd", "holds a NUL character, which no path can"));
    }
}

#[cfg(test)]
mod tests;
