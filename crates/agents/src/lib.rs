//! How is an agent called?
//!
//! Raw options ([`AgentOptions`]) become a checked [`Agent`]; with the facts of one run it gives a [`Call`]: argv,
//! environment, stdin, files. What came back is judged by [`Agent::judge`]. Nothing here starts a process.
//!
//! A preset is one file in `preset/`: its description, its argv and its reader of outputs. They are listed in
//! [`presets`], which configuration, the JSON Schema, the reference page and the `agents` command go by.

pub mod agent;
pub mod call;
pub mod environment;
pub mod exit;
pub mod hint;
pub mod options;
pub mod output;
pub mod preset;
mod scalar;

pub use agent::{Agent, AgentError};
pub use call::{Call, CallFacts, PromptFile, Stop};
pub use environment::clean_environment;
pub use exit::{Exit, RunVerdict};
pub use options::{AgentOptions, Output, PromptVia, Scope};
pub use output::{Answer, OutputError};
pub use preset::Preset;

static PRESETS: [Preset; 1] = [preset::command::PRESET];

/// Every preset, in the order in which documentation lists them.
pub fn presets() -> &'static [Preset] {
    &PRESETS
}
