//! Random words that let somebody in for a while: sessions, and codes that are good for one time.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::Rng as _;
use subtle::ConstantTimeEq as _;

/// Words in use, oldest first.
#[derive(Debug)]
pub(super) struct Passes {
    lifetime: Duration,
    most: usize,
    issued: VecDeque<(String, Instant)>,
}

impl Passes {
    /// Words that are good for `lifetime`, at most `most` at a time.
    pub(super) fn new(lifetime: Duration, most: usize) -> Passes {
        Passes { lifetime, most, issued: VecDeque::new() }
    }

    /// A new word of 256 random bits. The oldest one goes when there are too many.
    pub(super) fn issue(&mut self, now: Instant) -> String {
        let lifetime = self.lifetime;
        self.issued.retain(|(_, since)| now.duration_since(*since) < lifetime);
        if self.issued.len() >= self.most {
            self.issued.pop_front();
        }
        let word = random();
        self.issued.push_back((word.clone(), now));
        word
    }

    /// Whether a word is good now.
    pub(super) fn holds(&self, word: &str, now: Instant) -> bool {
        self.place(word, now).is_some()
    }

    /// Uses a word up; `false` when it is not good now.
    pub(super) fn take(&mut self, word: &str, now: Instant) -> bool {
        self.place(word, now).and_then(|place| self.issued.remove(place)).is_some()
    }

    fn place(&self, word: &str, now: Instant) -> Option<usize> {
        let is_it = |known: &str| bool::from(known.as_bytes().ct_eq(word.as_bytes()));
        let good = |since: Instant| now.duration_since(since) < self.lifetime;
        self.issued.iter().position(|(known, since)| is_it(known) && good(*since))
    }
}

fn random() -> String {
    let mut bytes = [0; 32];
    rand::rng().fill_bytes(&mut bytes);
    URL_SAFE_NO_PAD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_good_for_its_time() {
        let (mut passes, start) = (Passes::new(Duration::from_mins(1), 100), Instant::now());
        let word = passes.issue(start);
        assert_eq!(word.len(), 43);
        assert!(passes.holds(&word, start + Duration::from_secs(59)));
        assert!(!passes.holds(&word, start + Duration::from_mins(1)));
        assert!(!passes.holds("", start) && !passes.holds(&word[..42], start));
    }

    #[test]
    fn a_word_is_taken_once() {
        let (mut passes, now) = (Passes::new(Duration::from_mins(1), 100), Instant::now());
        let (one, two) = (passes.issue(now), passes.issue(now));
        assert!(passes.take(&one, now));
        assert!(!passes.take(&one, now));
        assert!(passes.holds(&two, now));
    }

    #[test]
    fn the_oldest_makes_room() {
        let (mut passes, now) = (Passes::new(Duration::from_mins(1), 2), Instant::now());
        let words = [passes.issue(now), passes.issue(now), passes.issue(now)];
        assert_eq!(words.map(|word| passes.holds(&word, now)), [false, true, true]);
    }
}
