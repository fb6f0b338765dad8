//! `command`: any program that takes an answer on stdin.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use super::{Kind, Resend, Tell};
use crate::key::{IDEMPOTENT, Key, Shape};
use crate::literal::check_folder;
use crate::mask::Mask;
use crate::message::Message;
use crate::options::{Options, is_given};
use crate::step::{Invalid, Process, Step, Surroundings};

pub(crate) const KIND: Kind = Kind {
    name: "command",
    about: "any program that takes an answer on stdin",
    told: "the answer on stdin, exactly; `DOORBELL_EVENT_ID`, `DOORBELL_RUN_ID`, `DOORBELL_ROUTE`, `DOORBELL_DELIVERY` \
           and `DOORBELL_EXTRA_<KEY>` for each value of `deliver_extra` in the environment; exit 0 is delivered, 64 to 74 \
           and 76 to 78 are final, all else is tried again",
    limit: "none",
    resend: Resend::IfIdempotent,
    keys: &[
        Key::new("command", Shape::Texts, "The program and its arguments, never given to a shell; no placeholders."),
        Key::new(
            "cwd",
            Shape::Text,
            "The folder in which it runs; a relative one is under Doorbell's home. Default: the folder in which the \
             gateway was started.",
        ),
        Key::new("env", Shape::Pairs, "Environment variables added to the clean ones that an agent gets too."),
        IDEMPOTENT,
    ],
    read,
};

/// The names that Doorbell sets itself.
const FACTS: [&str; 4] = ["DOORBELL_EVENT_ID", "DOORBELL_RUN_ID", "DOORBELL_ROUTE", "DOORBELL_DELIVERY"];
/// The beginning of the names of a route's own values.
const EXTRA: &str = "DOORBELL_EXTRA_";
/// Linux starts no program with a longer `NAME=value` (`MAX_ARG_STRLEN`, its closing NUL included).
const LONGEST_VARIABLE: usize = 128 * 1024 - 1;
/// Arguments and environment together have at least this much room everywhere that Doorbell runs.
const LONGEST_EXTRA: usize = 512 * 1024;

struct Command {
    argv: Vec<String>,
    cwd: Option<String>,
    env: Vec<(String, String)>,
}

/// Values of `env` may be secrets.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command").field("argv", &self.argv).field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

fn read(options: &mut Options) -> Arc<dyn Tell> {
    let argv = options.texts("command");
    if argv.first().is_none_or(|program| program.trim().is_empty()) {
        options.error("command", "missing: give the program and its arguments, such as [/usr/local/bin/tell, --quiet]");
    }
    if argv.iter().any(|argument| argument.contains('\0')) {
        options.error("command", "holds a NUL character, which no program can be given");
    }
    let cwd = options.text("cwd");
    if let Some(why) = cwd.as_deref().and_then(|cwd| check_folder(cwd).err()) {
        options.error("cwd", why);
    }
    let env = options.pairs("env");
    for (name, _) in &env {
        let key = format!("env.{name}");
        if name.is_empty() || name.contains(['=', '\0']) {
            options.error(&key, "not a name of an environment variable");
        } else if FACTS.contains(&name.as_str()) || name.starts_with(EXTRA) {
            options.error(&key, "set by Doorbell for each delivery; choose another name");
        }
    }
    Arc::new(Command { argv, cwd, env })
}

impl Tell for Command {
    fn plan(&self, message: &Message, around: &Surroundings) -> Result<Step, Invalid> {
        let inherited = around.environment.iter().map(|(name, value)| (name.clone(), value.clone()));
        let added = self.env.iter().map(|(name, value)| (name.clone(), without_nul(value)));
        let mut env: BTreeMap<String, String> = inherited.chain(added).collect();
        env.extend(extra_variables(message)?);
        let run_id = message.run_id.as_deref().unwrap_or_default();
        for (name, value) in FACTS.iter().zip([&message.event_id, run_id, &message.route, &message.delivery_id]) {
            if value.is_empty() {
                // Only a message without run has one: a variable of that name from elsewhere would be a lie.
                env.remove(*name);
            } else {
                env.insert((*name).to_owned(), without_nul(value));
            }
        }
        let mut mask = Mask::default();
        for (_, value) in &self.env {
            mask.value(value);
        }
        Ok(Step::Process(Process {
            argv: self.argv.clone(),
            env: env.into_iter().collect(),
            cwd: self.cwd.as_ref().map(|cwd| Path::new(around.home).join(cwd).to_string_lossy().into_owned()),
            stdin: message.content.clone(),
            mask,
        }))
    }
}

/// `DOORBELL_EXTRA_<KEY>` for each value: texts as they are, all else as JSON. Of two keys that become one name the
/// later wins. An error when the system could not carry them.
fn extra_variables(message: &Message) -> Result<BTreeMap<String, String>, Invalid> {
    let mut variables = BTreeMap::new();
    let mut room = LONGEST_EXTRA;
    for (key, value) in message.extra.iter().filter(|(_, value)| is_given(value)) {
        let name = variable_name(key);
        let value = match value {
            Value::String(text) => without_nul(text),
            other => other.to_string(),
        };
        let length = name.len() + 1 + value.len();
        room = room.saturating_sub(length);
        if length > LONGEST_VARIABLE || room == 0 {
            return Err(Invalid(format!("{key}: too long for an environment variable; the text itself goes by stdin")));
        }
        variables.insert(name, value);
    }
    Ok(variables)
}

/// `chat-id` becomes `DOORBELL_EXTRA_CHAT_ID`.
fn variable_name(key: &str) -> String {
    let upper = key.chars().map(|c| c.to_ascii_uppercase());
    let kept = upper.map(|c| if c.is_ascii_uppercase() || c.is_ascii_digit() { c } else { '_' });
    EXTRA.chars().chain(kept).collect()
}

/// NUL, which would end a value early, becomes U+FFFD.
fn without_nul(value: &str) -> String {
    value.replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests;
