//! The way from the top of the file to a value.

use std::fmt;

/// One step of a way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// Into a map, by its key.
    Key(String),
    /// Into a list, by the place in the file, from 0.
    Index(usize),
}

/// Steps from the top; shown with dots: `routes.gh.events.0`.
///
/// Route names may hold dots themselves, so comparing is done on steps and never on the text.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Path(Vec<Step>);

impl Path {
    pub(crate) fn new(keys: &[&str]) -> Self {
        Path(keys.iter().map(|key| Step::Key((*key).to_owned())).collect())
    }

    /// This way and one more key.
    pub(crate) fn key(&self, key: &str) -> Self {
        self.step(Step::Key(key.to_owned()))
    }

    /// This way and one more place in a list.
    pub(crate) fn index(&self, index: usize) -> Self {
        self.step(Step::Index(index))
    }

    /// This way and the dotted steps of `keys`; a number is a place in a list.
    pub(crate) fn dotted(&self, keys: &str) -> Self {
        let step = |part: &str| part.parse().map_or_else(|_| Step::Key(part.to_owned()), Step::Index);
        let steps = keys.split('.').filter(|part| !part.is_empty()).map(step);
        Path(self.0.iter().cloned().chain(steps).collect())
    }

    pub(crate) fn step(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Path(steps)
    }

    /// Puts `step` before the first one.
    pub(crate) fn put_before(&mut self, step: Step) {
        self.0.insert(0, step);
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Whether `self` is `other` or lies under it.
    pub(crate) fn is_within(&self, other: &Path) -> bool {
        self.0.starts_with(&other.0)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, step) in self.0.iter().enumerate() {
            if n > 0 {
                f.write_str(".")?;
            }
            match step {
                Step::Key(key) => f.write_str(key)?,
                Step::Index(index) => write!(f, "{index}")?,
            }
        }
        Ok(())
    }
}
