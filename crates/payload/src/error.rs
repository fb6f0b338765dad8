//! Why a body could not be read: which format, what is wrong, where. Never the body itself.

use std::borrow::Cow;
use std::fmt;

use crate::MAX_DEPTH;

/// Why a body could not be read.
///
/// Displays as `FORMAT: PROBLEM at PLACE`, for example ``JSON: expected `,` or `}` at line 1, column 21``. Lines and
/// columns (in characters) count from 1, byte offsets from 0. Nothing of the body is repeated, so the message may go
/// to a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{format}: {problem}{place}")]
pub struct ParseError {
    format: &'static str,
    problem: Problem,
    place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Problem {
    TooDeep,
    Malformed(Cow<'static, str>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Whole,
    Byte(usize),
    Text { line: usize, column: usize },
}

impl ParseError {
    /// A problem of the body as a whole.
    pub(crate) fn whole(format: &'static str, problem: impl Into<Cow<'static, str>>) -> Self {
        Self { format, problem: Problem::Malformed(problem.into()), place: Place::Whole }
    }

    /// A problem at a byte offset, for formats that have no lines.
    pub(crate) fn at_byte(format: &'static str, offset: usize, problem: impl Into<Cow<'static, str>>) -> Self {
        Self { format, problem: Problem::Malformed(problem.into()), place: Place::Byte(offset) }
    }

    /// A problem at a byte offset of a text, shown as line and column.
    pub(crate) fn at_text(format: &'static str, text: &str, offset: usize, problem: &'static str) -> Self {
        Self { format, problem: Problem::Malformed(problem.into()), place: Place::in_text(text, offset) }
    }

    /// Nesting beyond [`MAX_DEPTH`], noticed at a byte offset of a text.
    pub(crate) fn too_deep(format: &'static str, text: &str, offset: usize) -> Self {
        Self { format, problem: Problem::TooDeep, place: Place::in_text(text, offset) }
    }

    /// Whether nesting is the problem. Such a body is refused even where another reading would be possible.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.problem == Problem::TooDeep
    }
}

impl Place {
    fn in_text(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let last_line = before.rsplit('\n').next().unwrap_or_default();
        Self::Text { line: before.matches('\n').count() + 1, column: last_line.chars().count() + 1 }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooDeep => write!(f, "nested deeper than {MAX_DEPTH} levels"),
            Self::Malformed(what) => f.write_str(what),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Byte(offset) => write!(f, " at byte {offset}"),
            Self::Text { line, column } => write!(f, " at line {line}, column {column}"),
        }
    }
}
