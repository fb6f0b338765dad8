//! Where `${NAME}` looks: the process's environment, then `.env`.

mod dotenv;

use std::collections::BTreeMap;
use std::fmt;

use crate::problem::Problem;
use crate::tree::Mark;

/// The variables a configuration is read with. The real environment wins over `.env`; neither is changed.
#[derive(Clone, Default)]
pub struct Environment {
    real: BTreeMap<String, String>,
    file: BTreeMap<String, String>,
}

impl Environment {
    /// The environment of the process, as handed in.
    pub fn new(real: BTreeMap<String, String>) -> Self {
        Environment { real, file: BTreeMap::new() }
    }

    /// Adds the content of a `.env` file; `file` names it in problems. The first list are errors, the second warnings.
    ///
    /// A line is `NAME=value`, `export NAME=value`, a comment or empty. Nothing is expanded: a `$` in a value is a `$`.
    /// `'…'` keeps everything, `"…"` knows `\n`, `\r`, `\t`, `\"`, `\\` and `\$`; both may go over several lines.
    pub fn add_file(&mut self, text: &str, file: &str) -> (Vec<Problem>, Vec<Problem>) {
        let read = dotenv::read(text);
        self.file.extend(read.values);
        let problem = |(line, path, message): (usize, String, &str), help: &str| Problem {
            path,
            file: file.to_owned(),
            at: Some(Mark { line, column: 1 }),
            message: message.to_owned(),
            help: Some(help.to_owned()),
        };
        let errors = read.faults.into_iter().map(|(line, message)| {
            problem((line, String::new(), message), "write NAME=value, with quotes around a value that needs them")
        });
        let warnings = read.references.into_iter().map(|(line, name)| {
            let message = "holds ${…}, which is not replaced in .env";
            problem((line, name, message), "put the whole value there, or in single quotes if it is meant so")
        });
        (errors.collect(), warnings.collect())
    }

    /// The value of a variable, without one line end at its end (a secret read from a file often has one).
    pub fn get(&self, name: &str) -> Option<&str> {
        self.real.get(name).or_else(|| self.file.get(name)).map(|value| without_line_end(value))
    }

    /// The real environment alone: what runs may inherit. `.env` is for the configuration and never leaves it.
    pub fn real(&self) -> &BTreeMap<String, String> {
        &self.real
    }
}

/// Values may be secrets, so only names are shown.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |map: &BTreeMap<String, String>| map.keys().cloned().collect::<Vec<_>>();
        f.debug_struct("Environment").field("real", &names(&self.real)).field("file", &names(&self.file)).finish()
    }
}

/// The value without one line end at its end.
pub(crate) fn without_line_end(value: &str) -> &str {
    let value = value.strip_suffix('\n').unwrap_or(value);
    value.strip_suffix('\r').unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn the_real_environment_wins_and_dotenv_never_joins_it() {
        let mut environment = Environment::new(map(&[("A", "real"), ("L", "x\n"), ("R", "x\r\n"), ("N", "x\n\n")]));
        assert_eq!(environment.add_file("A=file\nB=file\n", ".env"), (Vec::new(), Vec::new()));
        assert_eq!(environment.get("A"), Some("real"));
        assert_eq!(environment.get("B"), Some("file"));
        assert_eq!(environment.get("C"), None);
        assert_eq!(["L", "R", "N"].map(|name| environment.get(name).unwrap()), ["x", "x", "x\n"]);
        assert!(!environment.real().contains_key("B"));
        assert_eq!(format!("{environment:?}"), r#"Environment { real: ["A", "L", "N", "R"], file: ["A", "B"] }"#);
    }

    #[test]
    fn problems_of_dotenv_name_the_line_and_never_its_content() {
        let (errors, warnings) = Environment::default().add_file("A=1\nhunter2 hunter2\nU=http://${A}/\n", ".env");
        let lines: Vec<String> = errors.iter().chain(&warnings).map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "not NAME=value (.env:2:1); write NAME=value, with quotes around a value that needs them",
                "U: holds ${…}, which is not replaced in .env (.env:3:1); put the whole value there, or in single quotes if \
                 it is meant so",
            ]
        );
    }
}
