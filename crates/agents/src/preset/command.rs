//! `command`: any program that reads a prompt and prints an answer.

use super::Preset;
use crate::agent::AgentError;
use crate::options::{AgentOptions, Output};
use crate::output;

pub(crate) const PRESET: Preset = Preset {
    name: "command",
    about: "any program that reads a prompt and prints an answer",
    called: "`command` and `args` without a shell, the prompt on stdin (or in a file), the answer on stdout",
    output: Output::Text,
    argv,
    read: output::read,
};

fn argv(options: &AgentOptions) -> Result<Vec<String>, AgentError> {
    match options.command.first() {
        Some(program) if !program.trim().is_empty() => Ok(options.command.clone()),
        Some(_) => Err(AgentError::new("command", "the first entry is blank; it names the program")),
        None => {
            Err(AgentError::new("command", "missing: give the program and its arguments, such as [my-agent, --once]"))
        }
    }
}
