//! What was found so far, and the tree to point into.

use crate::path::Path;
use crate::problem::{Fault, Problem};
use crate::tree::{Node, Value};

/// Collects problems while the parts of a file are judged one after the other.
pub(crate) struct Report {
    /// What could be read of the file.
    pub(crate) tree: Node,
    pub(crate) faults: Vec<Fault>,
    /// What could not be read and was taken out of the tree.
    taken: Vec<Path>,
    pub(crate) warnings: Vec<Fault>,
    /// What is wrong outside the file.
    environment: Vec<Problem>,
    /// What may not be meant there.
    environment_warnings: Vec<Problem>,
}

impl Report {
    pub(crate) fn new(tree: Node, faults: Vec<Fault>) -> Self {
        let taken = faults.iter().map(|fault| fault.path.clone()).collect();
        let (environment, environment_warnings) = Default::default();
        Report { tree, faults, taken, warnings: Vec::new(), environment, environment_warnings }
    }

    /// Notes what is wrong at `path`, at the place where it is written, and what to do.
    pub(crate) fn fault(&mut self, path: &Path, message: impl Into<String>, help: impl Into<String>) {
        let at = self.tree.mark(path);
        self.faults.push(Fault::new(path.clone(), at, message).help(help));
    }

    /// Notes what is wrong with a variable of the environment.
    pub(crate) fn outside(&mut self, name: &str, message: &str, help: &str) {
        self.environment.push(variable(name, message, help));
    }

    /// Notes what may not be meant with a variable of the environment.
    pub(crate) fn warn_outside(&mut self, name: &str, message: &str, help: &str) {
        self.environment_warnings.push(variable(name, message, help));
    }

    /// Notes what may not be meant.
    pub(crate) fn warn(&mut self, path: &Path, message: impl Into<String>, help: impl Into<String>) {
        let at = self.tree.mark(path);
        self.warnings.push(Fault::new(path.clone(), at, message).help(help));
    }

    /// Whether something is wrong already at `path`, below it, or with what it stands in: then what seems to be missing
    /// there is not missing, and a second complaint would mislead.
    pub(crate) fn is_broken(&self, path: &Path) -> bool {
        self.faults.iter().any(|fault| fault.path.is_within(path))
            || self.taken.iter().any(|taken| path.is_within(taken))
    }

    /// Whether `path` is written in the file.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.tree.get(path).is_some()
    }

    /// Whether a list is written at `path`.
    pub(crate) fn is_list(&self, path: &Path) -> bool {
        self.tree.get(path).is_some_and(|node| matches!(node.value, Value::List(_)))
    }

    /// All problems in the order of the file, and the warnings in theirs.
    pub(crate) fn sorted(self, file: &str) -> (Vec<Problem>, Vec<Problem>) {
        let problems = self.environment.into_iter().chain(sort(self.faults, file)).collect();
        let warnings = self.environment_warnings.into_iter().chain(sort(self.warnings, file)).collect();
        (problems, warnings)
    }
}

fn variable(name: &str, message: &str, help: &str) -> Problem {
    let (path, message, help) = (name.to_owned(), message.to_owned(), Some(help.to_owned()));
    Problem { path, file: String::new(), at: None, message, help }
}

fn sort(mut faults: Vec<Fault>, file: &str) -> Vec<Problem> {
    faults.sort_by(|a, b| (a.at, &a.path).cmp(&(b.at, &b.path)));
    faults.into_iter().map(|fault| fault.in_file(file)).collect()
}
