//! Reading bodies: with a limit and a deadline.

use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt as _;

use crate::problem::{Kind, Problem};

/// The whole body. One that is too large is still read to its end, within the deadline, so that its sender gets to hear why
/// instead of a broken connection; nothing of it is kept.
pub(crate) async fn read(body: Body, limit: usize, deadline: Duration) -> Result<Vec<u8>, Problem> {
    match tokio::time::timeout(deadline, collect(body, limit)).await {
        Ok(read) => read,
        Err(_) => {
            Err(Problem::new(Kind::TooSlow, format!("it did not come to its end within {} s", deadline.as_secs())))
        }
    }
}

async fn collect(mut body: Body, limit: usize) -> Result<Vec<u8>, Problem> {
    let mut whole = Vec::new();
    let mut fits = true;
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|_| Problem::new(Kind::BadBody, "the connection broke, or the body's framing is wrong"))?;
        let Some(data) = frame.data_ref() else { continue };
        fits = fits && whole.len() + data.len() <= limit;
        if fits {
            whole.extend_from_slice(data);
        } else {
            whole = Vec::new();
        }
    }
    if fits {
        Ok(whole)
    } else {
        Err(Problem::new(Kind::TooLarge, format!("more than the {limit} bytes that are taken here")))
    }
}
