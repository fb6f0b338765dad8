//! The four formats. Each must end exactly with the body, and stops as soon as its result passes the limit.

use std::io::Read;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::bufread::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Decoder, Operation};

use super::InflateError;

/// Bytes that are inflated at a time.
const BUFFER: usize = 16 * 1024;
/// RFC 9659: the `zstd` content coding uses windows of at most 8 MiB.
const ZSTD_WINDOW_LOG: u32 = 23;

/// RFC 1952; several members one after another are one body.
pub(super) fn gzip(body: &[u8], limit: usize) -> Result<Vec<u8>, InflateError> {
    let mut decoder = MultiGzDecoder::new(body);
    let mut result = Limited::new(limit);
    let mut buffer = [0; BUFFER];
    loop {
        match decoder.read(&mut buffer) {
            Ok(0) => return Ok(result.bytes),
            Ok(count) => result.push(&buffer[..count])?,
            Err(_) => return Err(InflateError::Broken),
        }
    }
}

/// RFC 1950 as the standard says, and bare RFC 1951 as many senders do.
pub(super) fn deflate(body: &[u8], limit: usize) -> Result<Vec<u8>, InflateError> {
    let framed = matches!(body, [method, flags, ..]
        if method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0);
    if framed {
        let result = deflate_stream(body, limit, Decompress::new(true));
        if result != Err(InflateError::Broken) {
            return result;
        }
    }
    deflate_stream(body, limit, Decompress::new(false))
}

fn deflate_stream(body: &[u8], limit: usize, mut decoder: Decompress) -> Result<Vec<u8>, InflateError> {
    drain(body, limit, |input, output| {
        let (read, written) = (decoder.total_in(), decoder.total_out());
        let status = decoder.decompress(input, output, FlushDecompress::None).map_err(|_| InflateError::Broken)?;
        Ok(Step {
            read: usize::try_from(decoder.total_in() - read).map_err(|_| InflateError::Broken)?,
            written: usize::try_from(decoder.total_out() - written).map_err(|_| InflateError::Broken)?,
            ended: status == Status::StreamEnd,
        })
    })
}

/// RFC 7932. The strict mode refuses the "large window" extension, whose windows reach 1 GiB.
pub(super) fn brotli(body: &[u8], limit: usize) -> Result<Vec<u8>, InflateError> {
    let mut state =
        BrotliState::new_strict(StandardAlloc::default(), StandardAlloc::default(), StandardAlloc::default());
    drain(body, limit, |input, output| {
        let (mut input_left, mut read) = (input.len(), 0);
        let (mut output_left, mut written, mut total) = (output.len(), 0, 0);
        let result = BrotliDecompressStream(
            &mut input_left,
            &mut read,
            input,
            &mut output_left,
            &mut written,
            output,
            &mut total,
            &mut state,
        );
        match result {
            BrotliResult::ResultFailure => Err(InflateError::Broken),
            other => Ok(Step { read, written, ended: matches!(other, BrotliResult::ResultSuccess) }),
        }
    })
}

/// RFC 8878; several frames one after another are one body.
pub(super) fn zstd(body: &[u8], limit: usize) -> Result<Vec<u8>, InflateError> {
    let mut decoder = Decoder::new().map_err(|_| InflateError::Broken)?;
    decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG)).map_err(|_| InflateError::Broken)?;
    drain(body, limit, |input, output| {
        let status = decoder.run_on_buffers(input, output).map_err(|_| InflateError::Broken)?;
        Ok(Step {
            read: status.bytes_read,
            written: status.bytes_written,
            // Frames may follow one another, so the end of one is the end only where the body ends.
            ended: status.remaining == 0 && status.bytes_read == input.len(),
        })
    })
}

/// What one call of a decoder did.
struct Step {
    read: usize,
    written: usize,
    ended: bool,
}

/// Calls a decoder until it says that its stream has ended, which must be at the end of the body.
fn drain(
    body: &[u8],
    limit: usize,
    mut step: impl FnMut(&[u8], &mut [u8]) -> Result<Step, InflateError>,
) -> Result<Vec<u8>, InflateError> {
    let mut rest = body;
    let mut result = Limited::new(limit);
    let mut buffer = [0; BUFFER];
    loop {
        let done = step(rest, &mut buffer)?;
        result.push(&buffer[..done.written])?;
        rest = &rest[done.read..];
        if done.ended {
            return if rest.is_empty() { Ok(result.bytes) } else { Err(InflateError::Broken) };
        }
        if done.read == 0 && done.written == 0 {
            return Err(InflateError::Broken);
        }
    }
}

/// A result that never grows beyond its limit, not even in what it reserves.
struct Limited {
    bytes: Vec<u8>,
    limit: usize,
}

impl Limited {
    fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit }
    }

    fn push(&mut self, more: &[u8]) -> Result<(), InflateError> {
        let needed = self.bytes.len() + more.len();
        if needed > self.limit {
            return Err(InflateError::TooLarge);
        }
        if needed > self.bytes.capacity() {
            let wanted = self.bytes.capacity().saturating_mul(2).clamp(needed, self.limit);
            self.bytes.reserve_exact(wanted - self.bytes.len());
        }
        self.bytes.extend_from_slice(more);
        Ok(())
    }
}
