//! From the tree to types, with every problem noted at once.

mod error;
mod source;
#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;

use crate::problem::Fault;
use crate::tree::Node;
pub(crate) use error::did_you_mean;
use source::Source;

/// No file has more problems that a person would read in one go.
const MOST: usize = 200;

/// Reads a value from `node`. On an error it is noted, the part at fault is taken out of `node`, and reading begins again,
/// until nothing is left that cannot be read; so one pass finds all problems. `None` when nothing could be read.
pub(crate) fn everything<T: DeserializeOwned>(node: &mut Node, faults: &mut Vec<Fault>) -> Option<T> {
    for _ in 0..MOST {
        let error = match T::deserialize(Source(node)) {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        let at = error.at;
        let fault = error.into_fault(at.or(Some(node.at)));
        let removed = node.remove(&fault.path);
        faults.push(fault);
        if !removed {
            return None;
        }
    }
    None
}
