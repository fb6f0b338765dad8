//! How is an answer told?
//!
//! What stands under `targets.<name>` becomes a checked [`Target`]. With a [`Message`] it plans a [`Step`], the one thing
//! to do (a log line, a line of a file, a request, a process), and of the [`Reply`] it says what that means: a
//! [`Verdict`]. Nothing here does the step.
//!
//! A kind of target is one file in `kind/`: its keys with their docs, its plan. They are listed in [`kinds`], which
//! configuration, the JSON Schema, the reference page and the `targets` command go by.

pub mod judge;
pub mod key;
pub mod kind;
mod literal;
mod mask;
pub mod message;
mod options;
mod retry_after;
pub mod scope;
pub mod step;
pub mod target;

pub use judge::{End, Reply, Verdict};
pub use key::{COMMON, Key, Shape, schema};
pub use kind::{Kind, Resend};
pub use message::Message;
pub use options::TargetError;
pub use scope::values_for;
pub use step::{Append, Http, Invalid, Process, Step, Surroundings};
pub use target::{LONGEST_BACKOFF, Target};

static KINDS: [Kind; 4] = [kind::log::KIND, kind::file::KIND, kind::webhook::KIND, kind::command::KIND];

/// Every kind of target, in the order in which documentation lists them.
pub fn kinds() -> &'static [Kind] {
    &KINDS
}
