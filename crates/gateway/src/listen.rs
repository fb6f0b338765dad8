//! Sockets: binding, TLS, and the limits of connections.

mod gate;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum_server::Handle;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use config::{Listen, Tls};
use tokio::net::{TcpSocket, lookup_host};

use gate::{Gate, Gated};

/// Connections that the system may hold for us while we are busy: a burst of senders is queued, not refused.
const BACKLOG: u32 = 1024;

/// How connections are treated.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at a time; further ones wait.
    pub connections: usize,
    /// How long a sender may take for the headers of a request, and a connection may idle.
    pub header_timeout: Duration,
}

/// An address that is bound but not served yet.
pub struct Bound {
    listener: std::net::TcpListener,
    tls: Option<(RustlsConfig, Tls)>,
    /// The address; its port is the real one when 0 was asked for.
    pub address: SocketAddr,
}

/// Binds an address and reads its certificate. The error names the address.
pub async fn bind(listen: &Listen) -> io::Result<Bound> {
    let named = |error: io::Error| {
        let hint = match error.kind() {
            io::ErrorKind::AddrInUse => "; another program has the port: stop it, or set another port",
            io::ErrorKind::PermissionDenied => "; ports below 1024 need a privilege: set a higher one",
            _ => "",
        };
        io::Error::new(error.kind(), format!("cannot listen on {listen}: {error}{hint}"))
    };
    let listener = bind_first(listen).await.map_err(named)?;
    let address = listener.local_addr()?;
    let tls = match &listen.tls {
        None => None,
        Some(files) => Some((certificate(files).await?, files.clone())),
    };
    Ok(Bound { listener, tls, address })
}

/// The first address of the host that can be had. Every interface is one IPv6 socket that takes IPv4 too, where there is IPv6.
async fn bind_first(listen: &Listen) -> io::Result<std::net::TcpListener> {
    let addresses: Vec<SocketAddr> = match &listen.host {
        Some(host) => lookup_host((host.as_str(), listen.port)).await?.collect(),
        None => vec![([0u16; 8], listen.port).into(), ([0u8; 4], listen.port).into()],
    };
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match bind_one(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn bind_one(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let socket = if address.is_ipv6() { TcpSocket::new_v6()? } else { TcpSocket::new_v4()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?.into_std()
}

async fn certificate(files: &Tls) -> io::Result<RustlsConfig> {
    RustlsConfig::from_pem_file(&files.cert, &files.key).await.map_err(|error| {
        let (cert, key) = (files.cert.display(), files.key.display());
        io::Error::new(error.kind(), format!("cannot read the certificate {cert} with the key {key}: {error}"))
    })
}

/// A server at work.
pub struct Serving {
    handle: Handle<Gated>,
    task: tokio::task::JoinHandle<io::Result<()>>,
    tls: Option<(RustlsConfig, Tls)>,
}

impl Bound {
    /// `http://` or `https://` with the address as a client of this machine would write it.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let host = match self.address.ip() {
            ip if ip.is_unspecified() => "localhost".to_owned(),
            std::net::IpAddr::V6(ip) => format!("[{ip}]"),
            std::net::IpAddr::V4(ip) => ip.to_string(),
        };
        format!("{scheme}://{host}:{}", self.address.port())
    }

    /// Begins to serve.
    pub fn serve(self, router: Router, limits: Limits) -> io::Result<Serving> {
        let handle = Handle::new();
        // Idle connections are closed after the header timeout: whoever waits longer than that gets one of their places.
        let gate = Gate::new(self.listener, limits.connections)?;
        let mut server = axum_server::Server::from_listener(gate).handle(handle.clone()).http1_only();
        // Who stops sending right behind a request has sent it: without this hyper drops what it has not begun.
        server.http_builder().http1().header_read_timeout(limits.header_timeout).half_close(true);
        let service = router.into_make_service();
        let task = match &self.tls {
            None => tokio::spawn(server.serve(service)),
            Some((config, _)) => {
                let acceptor = RustlsAcceptor::new(config.clone()).handshake_timeout(limits.header_timeout);
                tokio::spawn(server.acceptor(acceptor).serve(service))
            }
        };
        Ok(Serving { handle, task, tls: self.tls })
    }
}

impl Serving {
    /// Takes no further connection, and gives those that are open up to `patience` to finish their request.
    pub async fn stop(self, patience: Duration) {
        self.handle.graceful_shutdown(Some(patience));
        // Its error would say that it could not accept; it is not to accept any more.
        let _ = self.task.await;
    }

    /// A way to read the certificate again while it serves; `None` without TLS.
    pub fn certificate(&self) -> Option<Arc<Certificate>> {
        self.tls.as_ref().map(|(config, files)| Arc::new(Certificate { config: config.clone(), files: files.clone() }))
    }
}

/// The certificate of a server at work.
pub struct Certificate {
    config: RustlsConfig,
    files: Tls,
}

impl Certificate {
    /// Reads the files again; connections made from now on see the new certificate. On an error the old one stays.
    pub async fn reload(&self) -> io::Result<()> {
        self.config.reload_from_pem_file(&self.files.cert, &self.files.key).await
    }
}
