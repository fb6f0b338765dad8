//! Deliveries that are under way in this process.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a life that was lost had under way is not taken over while its own attempt still goes on.
#[derive(Debug, Default)]
pub struct Sending(Mutex<HashMap<String, Standing>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    UnderWay,
    /// It was to be taken over from a dead life, and nobody knows whether it was.
    Doubtful,
}

impl Sending {
    /// `false`: it was under way already.
    pub(super) fn begin(&self, id: &str) -> bool {
        self.all().insert(id.to_owned(), Standing::UnderWay) != Some(Standing::UnderWay)
    }

    pub(super) fn end(&self, id: &str) {
        self.all().remove(id);
    }

    /// It was begun to be taken over; the ledger did not say whether it was.
    pub(super) fn doubt(&self, id: &str) {
        self.all().insert(id.to_owned(), Standing::Doubtful);
    }

    /// Whether a dead life may have sent it.
    pub(super) fn is_doubtful(&self, id: &str) -> bool {
        self.all().get(id) == Some(&Standing::Doubtful)
    }

    /// Those that are under way.
    pub(crate) fn ids(&self) -> HashSet<String> {
        let all = self.all();
        all.iter().filter(|(_, standing)| **standing == Standing::UnderWay).map(|(id, _)| id.clone()).collect()
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Standing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
