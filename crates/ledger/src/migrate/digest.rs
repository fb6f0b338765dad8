//! What a table comes to.

use sha2::{Digest as _, Sha256};

use super::table::{Cell, Row};

/// The sum of the SHA-256 of all rows, modulo 2^256: the order in which a store has them does not matter.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Digest {
    pub(super) rows: u64,
    sum: [u8; 32],
}

impl Digest {
    /// Adds a row. With `replace_nul`, texts count as a database keeps them, which has no NUL.
    pub(super) fn add(&mut self, row: &Row, replace_nul: bool) {
        let mut hash = Sha256::new();
        let mut put = |tag: u8, bytes: &[u8]| {
            // Tag and length, so that no two rows look alike.
            hash.update([tag]);
            hash.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(bytes);
        };
        for cell in row {
            match cell {
                Cell::Null => put(0, b""),
                Cell::Number(number) => put(1, &number.to_be_bytes()),
                Cell::Text(text) if replace_nul => put(2, crate::postgres::stored(text).as_bytes()),
                Cell::Text(text) => put(2, text.as_bytes()),
                Cell::Blob(bytes) => put(3, bytes),
            }
        }
        let mut carry = 0;
        for (sum, byte) in self.sum.iter_mut().zip(hash.finalize()).rev() {
            let added = u16::from(*sum) + u16::from(byte) + carry;
            *sum = added.to_be_bytes()[1];
            carry = added >> 8;
        }
        self.rows += 1;
    }

    pub(super) fn hex(&self) -> String {
        use std::fmt::Write as _;
        self.sum.iter().fold(String::with_capacity(64), |mut text, byte| {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}
