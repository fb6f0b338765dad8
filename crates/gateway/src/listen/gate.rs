//! The number of connections at a time.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum_server::accept::Accept;
use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Lets so many connections in at a time; one more waits for a while, then is closed.
#[derive(Clone)]
pub(super) struct Gate {
    places: Arc<Semaphore>,
    patience: Duration,
}

impl Gate {
    pub(super) fn new(connections: usize, patience: Duration) -> Gate {
        Gate { places: Arc::new(Semaphore::new(connections.min(Semaphore::MAX_PERMITS))), patience }
    }
}

impl<S: Send + 'static> Accept<TcpStream, S> for Gate {
    type Stream = Placed;
    type Service = S;
    type Future = BoxFuture<'static, io::Result<(Placed, S)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let gate = self.clone();
        Box::pin(async move {
            let place = timeout(gate.patience, gate.places.acquire_owned()).await;
            let Ok(Ok(place)) = place else {
                return Err(io::Error::new(io::ErrorKind::ConnectionRefused, "server.max_connections are open"));
            };
            stream.set_nodelay(true)?;
            Ok((Placed { stream, _place: place }, service))
        })
    }
}

/// A connection that has a place until it is closed.
pub(super) struct Placed {
    stream: TcpStream,
    _place: OwnedSemaphorePermit,
}

impl AsyncRead for Placed {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Placed {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
