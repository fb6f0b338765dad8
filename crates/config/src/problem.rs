//! What is wrong with a configuration, said so that its writer can mend it.

use std::fmt;

use serde::Serialize;

use crate::path::Path;
use crate::tree::Mark;

/// One thing that is wrong, or (among the warnings) that may not be meant.
///
/// [`fmt::Display`] gives one line: ``routes.gh.secret: environment variable GH_SECRET is not set (config.yaml:14:13); set
/// it in .env or the environment``. It never holds a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The key, with dots between its parts: `routes.gh-pr.secret`; empty when the whole file is meant.
    pub path: String,
    /// The file as it is named to people, such as `config.yaml`; empty when the environment is meant.
    pub file: String,
    /// Where in the file; `None` when the problem has no place of its own.
    pub at: Option<Mark>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { String::new() } else { format!("{}: ", self.path) };
        let place = match self.at {
            _ if self.file.is_empty() => String::new(),
            Some(at) => format!(" ({}:{at})", self.file),
            None => format!(" ({})", self.file),
        };
        let help = self.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
        f.write_str(&on_one_line(&format!("{path}{}{place}{help}", self.message)))
    }
}

/// Escapes control characters: a key with a line break in it must not look like a second problem.
fn on_one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// Every problem of a configuration, in the order of the file. [`fmt::Display`] gives one a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problems(pub Vec<Problem>);

impl std::error::Error for Problems {}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, problem) in self.0.iter().enumerate() {
            if n > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

/// A problem before it knows its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) path: Path,
    pub(crate) at: Option<Mark>,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl Fault {
    pub(crate) fn new(path: Path, at: Option<Mark>, message: impl Into<String>) -> Self {
        Fault { path, at, message: message.into(), help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into()).filter(|help| !help.is_empty());
        self
    }

    pub(crate) fn in_file(self, file: &str) -> Problem {
        let Fault { path, at, message, help } = self;
        Problem { path: path.to_string(), file: file.to_owned(), at, message, help }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(path: &str, file: &str, at: Option<Mark>, help: Option<&str>) -> String {
        let help = help.map(str::to_owned);
        let problem = Problem { path: path.into(), file: file.into(), at, message: "is wrong".into(), help };
        problem.to_string()
    }

    #[test]
    fn a_problem_is_one_line_with_what_it_knows() {
        let at = Some(Mark { line: 3, column: 5 });
        assert_eq!(problem("a.b", "c.yaml", at, Some("mend it")), "a.b: is wrong (c.yaml:3:5); mend it");
        assert_eq!(problem("", "c.yaml", None, None), "is wrong (c.yaml)");
        assert_eq!(problem("WEBHOOK_PORT", "", None, None), "WEBHOOK_PORT: is wrong");
        assert_eq!(problem("a\nb\u{1b}", "", None, None), r"a\nb\u{1b}: is wrong");
    }

    #[test]
    fn problems_stand_one_a_line() {
        let one = Fault::new(Path::default(), None, "first").in_file("f");
        let two = Fault::new(Path::default(), None, "second").help("do").in_file("f");
        assert_eq!(Problems(vec![one, two]).to_string(), "first (f)\nsecond (f); do");
    }
}
