//! Bodies of requests: JSON that looks like what providers send, so that it compresses as theirs does.

use std::fmt::Write as _;
use std::sync::Arc;

/// Different endings that bodies are made of; more would only cost memory.
const ENDINGS: usize = 64;
const WORDS: [&str; 16] = [
    "pull_request",
    "commit",
    "sha",
    "url",
    "https://api.example.com/repos/",
    "author",
    "login",
    "created_at",
    "labels",
    "description",
    "assignee",
    "merged",
    "head",
    "base",
    "default_branch",
    "comments",
];

/// Makes bodies of one size, each with an id of its own in front of one of a few endings.
pub(crate) struct Bodies {
    bytes: usize,
    endings: Vec<Arc<[u8]>>,
}

impl Bodies {
    pub(crate) fn new(bytes: usize) -> Bodies {
        let endings = (0..ENDINGS).map(|n| ending(n as u64, bytes).into()).collect();
        Bodies { bytes, endings }
    }

    /// The body's beginning with its id, and the ending that makes it as long as wanted, if the id leaves room for one.
    pub(crate) fn make(&self, id: &str, number: usize) -> (String, Arc<[u8]>, usize) {
        let start = format!("{{\"id\":\"{id}\",\"text\":\"");
        let ending = &self.endings[number % ENDINGS];
        let cut = start.len().min(ending.len() - 2);
        debug_assert!(self.bytes < start.len() || start.len() + ending.len() - cut == self.bytes);
        (start, Arc::clone(ending), cut)
    }
}

/// `bytes` of a JSON string's inside and the end of the document. Its beginning may be cut off.
fn ending(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let mut text = String::with_capacity(bytes + 64);
    while text.len() + 2 < bytes {
        let word = WORDS[usize::try_from(random.next() % 16).unwrap_or(0)];
        // A word for structure, and digits that no two events share: commit hashes, times, numbers.
        let _ = write!(text, "{word}: {:010x}, ", random.next() >> 24);
    }
    text.truncate(bytes.saturating_sub(2));
    text.push_str("\"}");
    text.into_bytes()
}

/// splitmix64: the same bodies in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
