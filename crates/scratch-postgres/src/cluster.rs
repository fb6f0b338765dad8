//! The cluster that all tests share.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{FlockOperation, flock};

use crate::launch;

/// A running cluster. It runs at least as long as the process that holds this.
#[derive(Debug)]
pub struct Cluster {
    folder: PathBuf,
    /// Where the server listens on 127.0.0.1, with TLS for those who ask for it.
    pub port: u16,
    /// Where PgBouncer listens, in transaction mode; `None` when it is not installed.
    pub bouncer_port: Option<u16>,
    /// Held shared: the watch script waits until nobody holds it.
    _in_use: File,
}

impl Cluster {
    /// The cluster, started now when it does not run yet. It panics with what to do when PostgreSQL is not installed.
    pub fn shared() -> &'static Cluster {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        SHARED.get_or_init(Cluster::start)
    }

    fn start() -> Cluster {
        let user = rustix::process::geteuid().as_raw();
        let folder = place().join(format!("doorbell-postgres-{user}"));
        fs::create_dir_all(&folder).expect("a folder for the cluster");
        // One process at a time looks whether it runs, and starts it. The watch script takes the same lock to stop it.
        let starting = lock(&folder.join("starting"), FlockOperation::LockExclusive);
        let in_use = lock(&folder.join("in-use"), FlockOperation::LockShared);
        let ports = match launch::running(&folder) {
            Some(ports) => ports,
            None => launch::start(&folder),
        };
        launch::watch(&folder, &folder.join("run"));
        drop(starting);
        Cluster { folder, port: ports.server, bouncer_port: ports.bouncer, _in_use: in_use }
    }

    /// Where the databases that are lent have their locks.
    pub(crate) fn databases(&self) -> PathBuf {
        self.folder.join("databases")
    }

    /// The certificate that the server shows, for the name `localhost`, as a file.
    pub fn certificate(&self) -> PathBuf {
        self.folder.join("run/server.crt")
    }

    /// The URL of a database of the cluster.
    pub fn url(&self, database: &str) -> String {
        format!("postgresql://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// The URL of a database of the cluster, by way of PgBouncer.
    pub fn bouncer_url(&self, database: &str) -> String {
        let port = self.bouncer_port.expect("install the Debian package pgbouncer; scripts/test.sh does");
        format!("postgresql://postgres@127.0.0.1:{port}/{database}")
    }
}

/// In memory where there is room for it: what is tested is not the disk.
pub(crate) fn place() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let room = rustix::fs::statvfs(memory).map_or(0, |s| s.f_bavail.saturating_mul(s.f_frsize));
    if room > 2 << 30 { memory.to_owned() } else { std::env::temp_dir() }
}

pub(crate) fn lock(path: &Path, how: FlockOperation) -> File {
    let file = File::options().create(true).truncate(false).write(true).open(path).expect("a lock file");
    flock(&file, how).expect("a lock");
    file
}
