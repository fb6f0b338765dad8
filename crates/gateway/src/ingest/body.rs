//! Reading a body: within a size, within a time.

use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt as _;
use tokio::time::{Instant, timeout, timeout_at};

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyError {
    /// It is, or says that it is, larger than allowed.
    TooLarge,
    /// It broke off or is not framed as HTTP says.
    Broken,
    /// It took longer than allowed.
    TooSlow,
}

/// Reads a body of at most `limit` bytes by `deadline`.
pub(super) async fn read(mut body: Body, limit: usize, deadline: Instant) -> Result<Vec<u8>, BodyError> {
    let mut bytes = Vec::new();
    loop {
        match timeout_at(deadline, body.frame()).await {
            Err(_) => return Err(BodyError::TooSlow),
            Ok(None) => return Ok(bytes),
            Ok(Some(Err(_))) => return Err(BodyError::Broken),
            Ok(Some(Ok(frame))) => {
                let Ok(data) = frame.into_data() else { continue };
                if bytes.len() + data.len() > limit {
                    linger(body);
                    return Err(BodyError::TooLarge);
                }
                bytes.extend_from_slice(&data);
            }
        }
    }
}

/// Takes a little of a body that nobody wants while its answer goes out: a connection that is closed with bytes unread is
/// reset, and the sender may lose the answer that tells it why.
pub(super) fn linger(mut body: Body) {
    const AT_MOST: usize = 1 << 20;
    const FOR: Duration = Duration::from_secs(2);
    tokio::spawn(timeout(FOR, async move {
        let mut taken = 0;
        while taken < AT_MOST
            && let Some(Ok(frame)) = body.frame().await
        {
            taken += frame.data_ref().map_or(0, bytes::Bytes::len);
        }
    }));
}
