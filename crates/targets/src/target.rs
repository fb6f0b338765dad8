//! A target as configured, checked.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use span::Span;

use crate::judge::{Judge, Reply, Verdict};
use crate::kind::{Kind, Resend, Tell};
use crate::message::Message;
use crate::options::{Options, TargetError, is_given, nearest};
use crate::scope::values_for;
use crate::step::{Invalid, Step, Surroundings};

/// The longest wait between two attempts, however often `retry_backoff` was doubled.
pub const LONGEST_BACKOFF: Duration = Duration::from_mins(30);

/// A target whose settings were found right.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name under `targets`, the word in `deliver`.
    pub name: String,
    /// What it is.
    pub kind: &'static Kind,
    /// How long one attempt may take; above zero.
    pub timeout: Duration,
    /// How often one delivery is tried; above zero.
    pub max_attempts: u32,
    /// The wait before the second attempt, then doubled up to [`LONGEST_BACKOFF`].
    pub retry_backoff: Duration,
    /// The settings say that a repetition does no harm.
    pub idempotent: bool,
    own: Arc<dyn Tell>,
}

impl Target {
    /// Checks the settings of the target called `name`: the value of `targets.<name>`, `null` being no settings. All
    /// errors at once, their keys below `targets.<name>`.
    pub fn resolve(name: &str, raw: &Value) -> Result<Target, Vec<TargetError>> {
        let none = Map::new();
        let fields = match raw {
            Value::Object(fields) => fields,
            Value::Null => &none,
            _ => return Err(vec![TargetError::new("", "expected a mapping of keys")]),
        };
        let kind = kind_of(name, fields).map_err(|error| vec![error])?;
        let mut options = Options::new(fields);
        options.refuse_unknown(kind);
        let timeout = options.span("timeout", Span::seconds(10));
        if timeout.is_zero() {
            options.error("timeout", "0 is no timeout; write a long one if the target is slow, such as 5m");
        }
        let target = Target {
            name: name.to_owned(),
            kind,
            timeout: timeout.0,
            max_attempts: options.count("max_attempts", 12),
            retry_backoff: options.span("retry_backoff", Span::seconds(5)).0,
            idempotent: options.flag("idempotent"),
            own: (kind.read)(&mut options),
        };
        let errors = options.into_errors();
        if errors.is_empty() { Ok(target) } else { Err(errors) }
    }

    /// The target that `deliver: <name>` means without an entry under `targets`: a kind that needs no settings, or one
    /// that a route can give all it needs. For every other name the errors of an empty entry.
    pub fn builtin(name: &str) -> Result<Target, Vec<TargetError>> {
        Self::resolve(name, &Value::Null)
    }

    /// What is wrong with a route's `deliver_extra` for this target, templates not yet rendered: values that are
    /// missing, that must be literals and hold placeholders, or that belong to the settings only. `all_targets` are
    /// the names in the route's `deliver`; the errors' keys are below `deliver_extra`.
    pub fn check_route_values(&self, all_targets: &[&str], extra: &Value) -> Vec<TargetError> {
        let none = Map::new();
        let extra = match extra {
            Value::Object(extra) => extra,
            Value::Null => &none,
            _ => return vec![TargetError::new("", "expected a mapping of keys")],
        };
        let values = values_for(&self.name, all_targets, extra);
        let credentials = self.kind.keys.iter().filter(|key| key.credential && values.contains_key(key.name));
        let misplaced = credentials.map(|key| {
            let message = format!("is read from `targets.{}` only, so that no payload can shape it", self.name);
            TargetError::new(key.name, message)
        });
        let mut errors: Vec<TargetError> = misplaced.chain(self.own.check_route(&values)).collect();
        // The key as it is written: a target's own values stand below its name.
        let own = extra.get(&self.name).filter(|_| all_targets.contains(&self.name.as_str()));
        for error in &mut errors {
            if own.and_then(|own| own.get(&error.key)).is_some_and(is_given) {
                error.key = format!("{}.{}", self.name, error.key);
            }
        }
        errors
    }

    /// The step that delivers `message`. An error is final: the message cannot be told, whenever it is tried.
    pub fn plan(&self, message: &Message, around: &Surroundings) -> Result<Step, Invalid> {
        self.own.plan(message, around)
    }

    /// What `reply` to `step` means. `now_ms`: Unix milliseconds, for dates in the reply. No credential of the step is
    /// in the verdict's text.
    pub fn judge(&self, step: &Step, reply: &Reply, now_ms: i64) -> Verdict {
        Judge { resend: self.safe_to_resend(), now_ms, step }.judge(reply)
    }

    /// Whether a message of which nobody knows whether it arrived may be sent again; also asked for those that were
    /// being sent when the gateway died.
    pub fn safe_to_resend(&self) -> bool {
        self.kind.resend == Resend::Safe || self.idempotent
    }

    /// Something about the settings that people should see beside the target, such as `unsigned`.
    pub fn note(&self) -> Option<&'static str> {
        self.own.note()
    }
}

fn kind_of(name: &str, fields: &Map<String, Value>) -> Result<&'static Kind, TargetError> {
    let known = || crate::kinds().iter().map(|kind| kind.name);
    let list = || known().collect::<Vec<_>>().join(", ");
    let (word, message) = match fields.get("type").filter(|value| is_given(value)) {
        Some(Value::String(word)) => (word.as_str(), format!("unknown type `{word}`; known: {}", list())),
        Some(_) => return Err(TargetError::new("type", format!("expected one of: {}", list()))),
        None => (name, format!("`{name}` is no kind of target; say which one it is by `type`: {}", list())),
    };
    Kind::named(word).ok_or_else(|| TargetError { key: "type".to_owned(), message, nearest: nearest(word, known()) })
}

#[cfg(test)]
mod tests;
