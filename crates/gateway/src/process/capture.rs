//! Keeping the part of an output that is wanted: the beginning of stdout, the end of stderr.

/// The first bytes of a stream.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) bytes: Vec<u8>,
    pub(super) cut: bool,
    limit: usize,
}

impl Head {
    pub(super) fn new(limit: usize) -> Head {
        Head { bytes: Vec::new(), cut: false, limit }
    }

    pub(super) fn push(&mut self, more: &[u8]) {
        let room = self.limit - self.bytes.len();
        self.cut |= more.len() > room;
        self.bytes.extend_from_slice(&more[..more.len().min(room)]);
    }
}

/// The last bytes of a stream.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    limit: usize,
}

impl Tail {
    pub(super) fn new(limit: usize) -> Tail {
        Tail { bytes: Vec::new(), limit }
    }

    pub(super) fn push(&mut self, more: &[u8]) {
        self.bytes.extend_from_slice(more);
        // Trimmed at twice the limit, so that each byte is moved at most once.
        if self.bytes.len() > 2 * self.limit {
            self.bytes.drain(..self.bytes.len() - self.limit);
        }
    }

    /// The end of the stream as text, from a character boundary on.
    pub(super) fn into_text(mut self) -> String {
        if self.bytes.len() > self.limit {
            self.bytes.drain(..self.bytes.len() - self.limit);
            // At most three bytes of a character that was cut.
            let start = self.bytes.iter().take(4).position(|b| b & 0xC0 != 0x80).unwrap_or(0);
            self.bytes.drain(..start);
        }
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_keeps_the_beginning_and_says_when_there_was_more() {
        let mut head = Head::new(5);
        head.push(b"abc");
        assert!(!head.cut);
        head.push(b"de");
        assert!(!head.cut, "exactly full is not cut");
        head.push(b"f");
        assert_eq!((head.bytes.as_slice(), head.cut), (b"abcde".as_slice(), true));
    }

    #[test]
    fn tail_keeps_the_end_from_a_character_on() {
        let mut tail = Tail::new(5);
        for piece in ["0123456789", "ab", "é", "cd"] {
            tail.push(piece.as_bytes());
        }
        assert_eq!(tail.into_text(), "bécd");
        let mut cut_inside = Tail::new(3);
        cut_inside.push("aéé".as_bytes());
        assert_eq!(cut_inside.into_text(), "é");
    }
}
