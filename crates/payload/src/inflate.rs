//! Undoing `Content-Encoding` (RFC 9110 section 8.4) within a limit that is checked while inflating.

mod decoders;

use std::borrow::Cow;

/// Most encodings of one body; honest senders use one.
const MAX_LAYERS: usize = 3;

/// Why a compressed body could not be undone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InflateError {
    /// The body has more bytes than the limit.
    #[error("the body is larger than the limit once it is inflated")]
    TooLarge,
    /// An encoding that is not known; its name, lower-cased, at most 40 printable ASCII characters of it.
    #[error("Content-Encoding {0} is not supported; send gzip, deflate, br, zstd or none")]
    Unsupported(String),
    /// The bytes are not what the encoding says: damaged, cut off, or followed by something else. Also more than
    /// three encodings.
    #[error("the body is not what its Content-Encoding says: damaged, cut off, or followed by other bytes")]
    Broken,
}

/// Undoes `Content-Encoding`: `gzip` (`x-gzip`), `deflate` (with or without the zlib frame), `br`, `zstd`, `identity`.
///
/// `content_encoding` is the header's whole value, case-blind; several encodings are undone from the last to the first.
/// A body that was not encoded is borrowed, and so is an empty one. `limit` counts bytes of the result; not more than
/// that and one buffer is allocated for it, beside the window that the format itself needs (up to 16 MiB).
///
/// # Errors
/// See [`InflateError`]. An encoding that is not known is reported before any byte is looked at.
pub fn inflate<'a>(
    body: &'a [u8],
    content_encoding: Option<&str>,
    limit: usize,
) -> Result<Cow<'a, [u8]>, InflateError> {
    let mut layers = Vec::new();
    for name in content_encoding.unwrap_or_default().split(',') {
        layers.extend(Encoding::named(name.trim())?);
        if layers.len() > MAX_LAYERS {
            return Err(InflateError::Broken);
        }
    }
    let mut current = Cow::Borrowed(body);
    while let Some(encoding) = layers.pop() {
        if current.is_empty() {
            break;
        }
        // What does not compress grows a little with each layer, so inner layers get some room above the limit.
        let room = if layers.is_empty() { limit } else { limit.saturating_add(limit / 64).saturating_add(1024) };
        current = Cow::Owned(encoding.undo(&current, room)?);
    }
    if current.len() > limit { Err(InflateError::TooLarge) } else { Ok(current) }
}

#[derive(Clone, Copy)]
enum Encoding {
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Encoding {
    /// The encoding of a name; `None` for those that change nothing.
    fn named(name: &str) -> Result<Option<Self>, InflateError> {
        let name = name.to_ascii_lowercase();
        match name.as_str() {
            "" | "identity" => Ok(None),
            "gzip" | "x-gzip" => Ok(Some(Self::Gzip)),
            "deflate" => Ok(Some(Self::Deflate)),
            "br" => Ok(Some(Self::Brotli)),
            "zstd" => Ok(Some(Self::Zstd)),
            _ => Err(InflateError::Unsupported(name.chars().filter(char::is_ascii_graphic).take(40).collect())),
        }
    }

    fn undo(self, body: &[u8], limit: usize) -> Result<Vec<u8>, InflateError> {
        match self {
            Self::Gzip => decoders::gzip(body, limit),
            Self::Deflate => decoders::deflate(body, limit),
            Self::Brotli => decoders::brotli(body, limit),
            Self::Zstd => decoders::zstd(body, limit),
        }
    }
}

#[cfg(test)]
mod tests;
