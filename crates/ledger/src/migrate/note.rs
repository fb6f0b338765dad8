//! How far a copy has come.

use serde::{Deserialize, Serialize};

use super::table::Row;

/// Kept in the destination until the copy is finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Note {
    /// What the source is told apart by.
    pub(super) outline: String,
    pub(super) place: Place,
}

/// The table that is being copied, by its place in the list, and the key of its last row that was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) table: usize,
    pub(super) after: Option<Row>,
}

impl Note {
    pub(super) fn new(outline: String) -> Note {
        Note { outline, place: Place { table: 0, after: None } }
    }

    pub(super) fn text(&self) -> String {
        // Texts and numbers, which always have a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// A note of another version names no place that can be gone on from.
    pub(super) fn read(text: &str) -> Note {
        serde_json::from_str(text).unwrap_or_else(|_| Note::new(String::new()))
    }
}
