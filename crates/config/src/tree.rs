//! The file as a tree that knows where each of its parts stands.

mod build;
mod scalar;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::Serialize;
use serde_json::Number;

pub(crate) use build::parse;
pub(crate) use scalar::typed;

use crate::path::{Path, Step};

/// A place in a file. [`fmt::Display`]: `14:13`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Mark {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A value and the place where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) at: Mark,
    pub(crate) value: Value,
    /// Whether it was written without quotes, so that its type follows from its text.
    pub(crate) plain: bool,
    /// The whole text of a plain scalar that held a variable: what a key that wants a text takes, whatever the text looks
    /// like (a secret made of digits stays a secret).
    pub(crate) put_in: Option<String>,
}

/// What a node holds. Maps keep the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Truth(bool),
    Number(Number),
    Text(String),
    List(Vec<Item>),
    Map(Vec<Entry>),
}

/// A member of a list, with its number in the file: taking one out does not renumber the others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) index: usize,
    pub(crate) node: Node,
}

/// A key of a map, the place of the key, and its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_at: Mark,
    pub(crate) node: Node,
}

impl Node {
    pub(crate) fn new(at: Mark, value: Value) -> Self {
        Node { at, value, plain: false, put_in: None }
    }

    /// The node at `path`.
    pub(crate) fn get(&self, path: &Path) -> Option<&Node> {
        path.steps().iter().try_fold(self, |node, step| match (&node.value, step) {
            (Value::Map(entries), Step::Key(key)) => entries.iter().find(|e| e.key == *key).map(|e| &e.node),
            (Value::List(items), Step::Index(index)) => items.iter().find(|i| i.index == *index).map(|i| &i.node),
            _ => None,
        })
    }

    /// The place of `path`, or of the nearest part above it that is in the file.
    pub(crate) fn mark(&self, path: &Path) -> Option<Mark> {
        let (mut node, mut at) = (self, None);
        for step in path.steps() {
            let next = match (&node.value, step) {
                (Value::Map(entries), Step::Key(key)) => {
                    let entry = entries.iter().find(|e| e.key == *key);
                    entry.map(|e| (&e.node, if e.node.is_container() { e.key_at } else { e.node.at }))
                }
                (Value::List(items), Step::Index(index)) => {
                    items.iter().find(|i| i.index == *index).map(|i| (&i.node, i.node.at))
                }
                _ => None,
            };
            let Some((below, mark)) = next else { break };
            (node, at) = (below, Some(mark));
        }
        at
    }

    /// Takes out what is at `path`; `false` when nothing is there.
    pub(crate) fn remove(&mut self, path: &Path) -> bool {
        let Some((last, above)) = path.steps().split_last() else { return false };
        let parent = above.iter().try_fold(self, |node, step| node.below_mut(step));
        match (parent.map(|node| &mut node.value), last) {
            (Some(Value::Map(entries)), Step::Key(key)) => {
                let before = entries.len();
                entries.retain(|entry| entry.key != *key);
                entries.len() < before
            }
            (Some(Value::List(items)), Step::Index(index)) => {
                let before = items.len();
                items.retain(|item| item.index != *index);
                items.len() < before
            }
            _ => false,
        }
    }

    fn below_mut(&mut self, step: &Step) -> Option<&mut Node> {
        match (&mut self.value, step) {
            (Value::Map(entries), Step::Key(key)) => entries.iter_mut().find(|e| e.key == *key).map(|e| &mut e.node),
            (Value::List(items), Step::Index(index)) => {
                items.iter_mut().find(|i| i.index == *index).map(|i| &mut i.node)
            }
            _ => None,
        }
    }

    /// Containers begin where their first member does; their key is the better place to point at.
    fn is_container(&self) -> bool {
        matches!(self.value, Value::Null | Value::List(_) | Value::Map(_))
    }
}
