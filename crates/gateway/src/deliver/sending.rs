//! Deliveries that are under way in this process.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Their ids: what a life that was lost had under way is not taken over while its own attempt still goes on.
#[derive(Debug, Default)]
pub struct Sending(Mutex<HashSet<String>>);

impl Sending {
    /// `false`: it was under way already.
    pub(super) fn begin(&self, id: &str) -> bool {
        self.all().insert(id.to_owned())
    }

    pub(super) fn end(&self, id: &str) {
        self.all().remove(id);
    }

    fn all(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
