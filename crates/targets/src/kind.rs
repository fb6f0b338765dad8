//! What a kind of target is; each one is a file in `kind/`.

use std::fmt::Debug;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::key::{COMMON, Key};
use crate::message::Message;
use crate::options::{Options, TargetError};
use crate::step::{Invalid, Step, Surroundings};

pub(crate) mod command;
pub(crate) mod file;
pub(crate) mod log;
pub(crate) mod webhook;

/// Whether a message may go out again when nobody knows whether it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resend {
    /// A repetition does no harm.
    Safe,
    /// Only where the settings say `idempotent: true`.
    IfIdempotent,
}

/// A kind of target.
#[derive(Debug)]
pub struct Kind {
    /// The word that stands under `type`, and the default of an entry of that name.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// What is put on the wire, in one line.
    pub told: &'static str,
    /// How much fits into one message, in words.
    pub limit: &'static str,
    /// Whether a message in doubt may go out again.
    pub resend: Resend,
    /// The keys of its own; those of every target are in [`COMMON`].
    pub keys: &'static [Key],
    /// Reads its keys; what is wrong is noted in the options.
    pub(crate) read: fn(&mut Options) -> Arc<dyn Tell>,
}

impl Kind {
    /// The kind of that name.
    pub fn named(name: &str) -> Option<&'static Kind> {
        crate::kinds().iter().find(|kind| kind.name == name)
    }

    /// All keys that its settings may have, those of every target first.
    pub fn all_keys(&self) -> impl Iterator<Item = &'static Key> {
        COMMON.iter().chain(self.keys)
    }
}

/// One target's own part: its settings, read.
pub(crate) trait Tell: Debug + Send + Sync {
    /// The step that delivers a message.
    fn plan(&self, message: &Message, around: &Surroundings) -> Result<Step, Invalid>;

    /// What is wrong with the values that a route gives, templates not rendered.
    fn check_route(&self, _extra: &Map<String, Value>) -> Vec<TargetError> {
        Vec::new()
    }

    /// Something about the settings that people should see beside the target.
    fn note(&self) -> Option<&'static str> {
        None
    }
}
