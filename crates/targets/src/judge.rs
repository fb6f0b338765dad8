//! What came of a step, and what that means.

use std::time::Duration;

use serde_json::Value;
use span::Span;

use crate::retry_after;
use crate::step::Step;

/// How much of a receiver's own words stands in an error, in characters.
const REASON: usize = 200;

/// What came of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The log line or the line of the file is written.
    Written,
    /// The file could not be written; the text says why.
    WriteFailed(String),
    /// An answer to a request.
    Http {
        /// Its status.
        status: u16,
        /// Its `Retry-After` header as it stands.
        retry_after: Option<String>,
        /// The first 64 KiB of its body.
        body: Vec<u8>,
    },
    /// The program has ended.
    Ended {
        /// How.
        end: End,
        /// The end of its stderr.
        stderr_end: String,
    },
    /// Nothing was handed over: no connection, a request that was not written whole, a program that did not start.
    NotSent(String),
    /// The request was written whole and no answer came; the text says what happened instead.
    NoAnswer(String),
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited with this status.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// It was ended because it ran for this long.
    TimedOut(Duration),
}

/// What a reply means for the delivery. The texts are for people and stand in the delivery's `error`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has arrived.
    Delivered,
    /// It is to be tried again.
    Later {
        /// Not before this has passed, as the receiver asked; the target's backoff holds beside it.
        wait: Option<Duration>,
        /// Why it was not delivered.
        why: String,
    },
    /// It is not to be tried again.
    Final(String),
    /// It went out and nobody knows whether it arrived; it is not to be sent again by itself.
    Unknown(String),
}

/// Judges the replies to one step.
pub(crate) struct Judge<'a> {
    /// A repetition of the step does no harm.
    pub(crate) resend: bool,
    /// Now, in Unix milliseconds.
    pub(crate) now_ms: i64,
    /// Whose credentials no text may show.
    pub(crate) step: &'a Step,
}

impl Judge<'_> {
    pub(crate) fn judge(&self, reply: &Reply) -> Verdict {
        match reply {
            Reply::Written => Verdict::Delivered,
            Reply::WriteFailed(why) => later(format!("could not write: {}", self.words(why))),
            Reply::Http { status, retry_after, body } => self.http(*status, retry_after.as_deref(), body),
            Reply::Ended { end, stderr_end } => self.ended(*end, stderr_end),
            Reply::NotSent(why) => later(format!("not sent: {}", self.words(why))),
            Reply::NoAnswer(why) => {
                let why = format!("sent, but no answer came: {}", self.words(why));
                if self.resend { later(why) } else { Verdict::Unknown(why) }
            }
        }
    }

    /// By the status alone: 2xx has arrived, 429 and 5xx come back, all else does not.
    fn http(&self, status: u16, retry_after: Option<&str>, body: &[u8]) -> Verdict {
        let told = told(body).map(|told| self.words(&told)).filter(|words| !words.is_empty());
        let why = match told {
            Some(words) => format!("HTTP {status}: {words}"),
            None => format!("HTTP {status}"),
        };
        match status {
            200..=299 => Verdict::Delivered,
            300..=399 => {
                Verdict::Final(format!("HTTP {status}: a redirect, which is never followed; set the final address"))
            }
            429 | 500..=599 => {
                Verdict::Later { wait: retry_after.and_then(|header| retry_after::wait(header, self.now_ms)), why }
            }
            _ => Verdict::Final(why),
        }
    }

    /// By the exit status: 64 to 78 are the final errors of sysexits.h, save 75 (`EX_TEMPFAIL`).
    fn ended(&self, end: End, stderr: &str) -> Verdict {
        let (how, is_final) = match end {
            End::Code(0) => return Verdict::Delivered,
            End::Code(code) => (format!("exit status {code}"), matches!(code, 64..=74 | 76..=78)),
            End::Signal(signal) => (format!("ended by signal {signal}"), false),
            End::TimedOut(after) => (format!("timed out after {}", Span(after)), false),
        };
        let said = last(&one_line(&self.step.masked(stderr)));
        let why = if said.is_empty() { how } else { format!("{how}: {said}") };
        if is_final { Verdict::Final(why) } else { later(why) }
    }

    /// Somebody else's words as one short line. Credentials go first: one that was cut would no longer be found.
    fn words(&self, text: &str) -> String {
        first(&one_line(&self.step.masked(text)))
    }
}

fn later(why: String) -> Verdict {
    Verdict::Later { wait: None, why }
}

/// The receiver's own words: the telling field of a JSON object, else the text; nothing of an HTML page.
fn told(body: &[u8]) -> Option<String> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => {
            let words = ["message", "error", "error_description", "detail", "description", "title", "reason"];
            words.iter().find_map(|word| words_of(fields.get(*word)?))
        }
        Ok(Value::String(text)) => Some(text),
        Ok(_) => None,
        Err(_) => Some(String::from_utf8_lossy(body).into_owned()).filter(|text| !text.trim_start().starts_with('<')),
    }
}

/// A text, or the `message` of an object, as in `{"error": {"message": "…"}}`.
fn words_of(value: &Value) -> Option<String> {
    value.as_str().or_else(|| value.get("message")?.as_str()).map(str::to_owned)
}

/// White space and control characters become single spaces.
fn one_line(text: &str) -> String {
    let spaced = text.replace(char::is_control, " ");
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn first(text: &str) -> String {
    text.chars().take(REASON).collect()
}

fn last(text: &str) -> String {
    let all = text.chars().count();
    text.chars().skip(all.saturating_sub(REASON)).collect()
}

#[cfg(test)]
mod tests;
