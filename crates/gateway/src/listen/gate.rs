//! The number of connections at a time.
//!
//! Who comes when all places are taken waits in the system's queue, where it costs no file of ours: the ledger, the runs and
//! the admin address need some too.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum_server::{AddrListener, Address};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Accepting works again when it has not failed for so long.
const CALM: Duration = Duration::from_secs(2);

/// A socket that is listened to by a [`Gate`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Gated(SocketAddr);

impl Address for Gated {
    type Stream = Placed;
    type Listener = Gate;
}

/// Lets so many connections in at a time.
pub(super) struct Gate {
    listener: TcpListener,
    places: Arc<Semaphore>,
    /// Since when connections cannot be accepted, and when that showed last.
    failing: Mutex<Option<(Instant, Instant)>>,
}

impl Gate {
    /// Puts a gate before a listener.
    pub(super) fn new(listener: std::net::TcpListener, connections: usize) -> io::Result<Gate> {
        listener.set_nonblocking(true)?;
        let places = Arc::new(Semaphore::new(connections.min(Semaphore::MAX_PERMITS)));
        Ok(Gate { listener: TcpListener::from_std(listener)?, places, failing: Mutex::default() })
    }

    /// Says that connections cannot be accepted, and that they can again: each once, not each time.
    fn note(&self, error: Option<&io::Error>) {
        let now = Instant::now();
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        match (error, &mut *failing) {
            (Some(_), Some((_, last))) => *last = now,
            (Some(error), none) => {
                tracing::error!(%error, "connections cannot be accepted; senders wait until they can");
                *none = Some((now, now));
            }
            (None, Some((since, last))) if last.elapsed() >= CALM => {
                tracing::warn!(lasted_s = since.elapsed().as_secs(), "connections are accepted again");
                *failing = None;
            }
            (None, _) => {}
        }
    }
}

impl AddrListener<Placed, Gated> for Gate {
    async fn bind_to(address: Gated) -> io::Result<Gate> {
        Gate::new(std::net::TcpListener::bind(address.0)?, usize::MAX)
    }

    async fn accept_stream(&self) -> io::Result<(Placed, Gated)> {
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(io::Error::other)?;
        let accepted = self.listener.accept().await;
        // One that its sender has given up is no fault of this side.
        let fault = accepted.as_ref().err().filter(|error| error.kind() != io::ErrorKind::ConnectionAborted);
        self.note(fault);
        let (stream, from) = accepted?;
        // Refused for a connection that has gone meanwhile; who reads it finds that out.
        let _ = stream.set_nodelay(true);
        Ok((Placed { stream, _place: place }, Gated(from)))
    }

    fn get_local_addr(&self) -> io::Result<Gated> {
        self.listener.local_addr().map(Gated)
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
