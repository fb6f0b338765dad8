//! What a preset is; each one is a file in `preset/`.

use crate::agent::AgentError;
use crate::options::{AgentOptions, Output};
use crate::output::{Answer, OutputError};

pub(crate) mod command;

/// A reader of outputs, as [`crate::output::read`] is.
pub(crate) type Reader = fn(Output, &[u8], Option<u64>) -> Result<Answer, OutputError>;

/// A known way of calling an agent.
#[derive(Debug)]
pub struct Preset {
    /// The word that stands under `preset`.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// How the agent is called and what is read from it, in one line.
    pub called: &'static str,
    /// How its stdout is read unless `output` says otherwise.
    pub output: Output,
    /// The argv before `args`; an error when the options lack something that the preset needs.
    pub(crate) argv: fn(&AgentOptions) -> Result<Vec<String>, AgentError>,
    /// Reads what the agent printed: kind, bytes kept, and the limit at which they were cut, if they were.
    pub(crate) read: Reader,
}

impl Preset {
    /// The preset of that name.
    pub fn named(name: &str) -> Option<&'static Preset> {
        crate::presets().iter().find(|preset| preset.name == name)
    }
}
