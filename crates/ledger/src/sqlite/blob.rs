//! Bytes at rest: zstd above 1 KiB, plain below or when compression does not pay.

use std::cell::RefCell;

use zstd::bulk::Compressor;

use crate::Error;

const SMALL: usize = 1024;
const PLAIN: u8 = 0;
const ZSTD: u8 = 1;
/// Fast enough to run on every request before it reaches the writer.
const LEVEL: i32 = 1;

thread_local! {
    /// Each thread's compressor: to make one costs as much as to pack a body.
    static PACKER: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// Codec and bytes to store.
pub(super) fn pack(bytes: &[u8]) -> (u8, Vec<u8>) {
    if bytes.len() > SMALL
        && let Ok(packed) = PACKER.with_borrow_mut(|packer| compress(packer, bytes))
        && packed.len() < bytes.len()
    {
        return (ZSTD, packed);
    }
    (PLAIN, bytes.to_vec())
}

fn compress(packer: &mut Option<Compressor<'static>>, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let packer = match packer {
        Some(packer) => packer,
        None => packer.insert(Compressor::new(LEVEL)?),
    };
    packer.compress(bytes)
}

/// The bytes that were packed.
pub(super) fn unpack(codec: u8, stored: Vec<u8>) -> Result<Vec<u8>, Error> {
    match codec {
        PLAIN => Ok(stored),
        ZSTD => zstd::stream::decode_all(stored.as_slice())
            .map_err(|e| Error::Unavailable(format!("a stored body cannot be unpacked: {e}"))),
        other => Err(Error::Unavailable(format!("a stored body has the unknown codec {other}"))),
    }
}

/// A text with its codec as the first byte.
pub(super) fn pack_text(text: &str) -> Vec<u8> {
    let (codec, mut bytes) = pack(text.as_bytes());
    bytes.insert(0, codec);
    bytes
}

/// The text that was packed.
pub(super) fn unpack_text(stored: Option<Vec<u8>>) -> Result<Option<String>, Error> {
    let Some(mut stored) = stored else { return Ok(None) };
    if stored.is_empty() {
        return Err(Error::Unavailable("a stored text has no codec".into()));
    }
    let codec = stored.remove(0);
    let bytes = unpack(codec, stored)?;
    String::from_utf8(bytes).map(Some).map_err(|_| Error::Unavailable("a stored text is not UTF-8".into()))
}
