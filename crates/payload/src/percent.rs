//! Percent escapes (RFC 3986 section 2.1), decoded strictly.

/// Why a text could not be decoded.
pub(crate) enum Wrong {
    /// A `%` without two hex digits, at this byte of the text.
    Escape(usize),
    /// The decoded bytes are not UTF-8.
    NotUtf8,
}

/// Decodes percent escapes; in forms `+` stands for a space.
pub(crate) fn decode(written: &str, plus_is_space: bool) -> Result<String, Wrong> {
    let bytes = written.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let byte = match bytes[at] {
            b'+' if plus_is_space => b' ',
            b'%' => {
                let (Some(high), Some(low)) = (digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) else {
                    return Err(Wrong::Escape(at));
                };
                at += 2;
                high << 4 | low
            }
            other => other,
        };
        decoded.push(byte);
        at += 1;
    }
    String::from_utf8(decoded).map_err(|_| Wrong::NotUtf8)
}

fn digit(byte: Option<&u8>) -> Option<u8> {
    u8::try_from(char::from(*byte?).to_digit(16)?).ok()
}
