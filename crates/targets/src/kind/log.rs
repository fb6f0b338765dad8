//! `log`: the gateway's own log.

use std::sync::Arc;

use super::{Kind, Resend, Tell};
use crate::message::Message;
use crate::step::{Invalid, Step, Surroundings};

pub(crate) const KIND: Kind = Kind {
    name: "log",
    about: "the gateway's own log; where answers go unless a route says otherwise",
    told: "one line in the log, control characters escaped",
    limit: "none",
    resend: Resend::Safe,
    keys: &[],
    read: |_| Arc::new(Log),
};

#[derive(Debug)]
struct Log;

impl Tell for Log {
    fn plan(&self, message: &Message, _: &Surroundings) -> Result<Step, Invalid> {
        Ok(Step::Log { line: one_line(&message.content) })
    }
}

/// Control characters as `\n`, `\t`, `\u{1b}`: an answer cannot write lines of its own into the log.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn an_answer_is_one_line_and_cannot_forge_another() {
        assert_eq!(one_line("a ü\nERROR forged\r\u{1b}[2J\u{2028}"), "a ü\\nERROR forged\\r\\u{1b}[2J\\u{2028}");
    }
}
