//! A server of one's own: for measuring, on the disk and with PostgreSQL's own defaults about what is safe; or for a test that stops
//! and starts it.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::FlockOperation;

use crate::{cluster, database, launch};

/// What is not committed durably stays in memory for as long as it can, so that a server that is ended at once loses it.
const FORGETFUL: &str = "wal_writer_delay = 10s\nautovacuum = off\n";

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Whoever is connected is told, and all is written.
    Polite,
    /// As by a crash: what was not committed durably may be lost.
    Crash,
}

/// A server of one's own. It is stopped when this is dropped.
#[derive(Debug)]
pub struct Server {
    folder: PathBuf,
    port: u16,
    /// Held by one that removes its folder: should this process be killed, the watch script does.
    in_use: Option<File>,
}

impl Server {
    /// Starts one in a folder, which every user can then look through: a server does not run as root. It panics with what to do
    /// when PostgreSQL is not installed.
    pub fn durable(folder: &Path) -> Server {
        fs::create_dir_all(folder).expect("a folder for the server");
        for above in folder.ancestors().take_while(|above| above.starts_with(std::env::temp_dir())) {
            if let Ok(facts) = fs::metadata(above) {
                let mode = facts.permissions().mode();
                let _ = fs::set_permissions(above, fs::Permissions::from_mode(mode | 0o011));
            }
        }
        let port = launch::start_server(folder, "shared_buffers = 512MB\nmax_wal_size = 4GB\n");
        Server { folder: folder.to_owned(), port, in_use: None }
    }

    /// Starts one that a test may stop and start.
    pub fn own() -> Server {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = cluster::place().join(format!("doorbell-postgres-own-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for the server");
        let in_use = cluster::lock(&folder.join("in-use"), FlockOperation::LockShared);
        launch::watch(&folder, &folder);
        let port = launch::start_server(&folder, &format!("{}{FORGETFUL}", launch::CARELESS));
        Server { folder, port, in_use: Some(in_use) }
    }

    /// Stops it; whoever comes is refused.
    pub fn stop(&self, how: Stop) {
        let mode = match how {
            Stop::Polite => "fast",
            Stop::Crash => "immediate",
        };
        launch::stop_server(&self.folder, mode);
    }

    /// Starts it once more, where it was.
    pub fn start(&self) {
        launch::start_server_again(&self.folder);
    }

    /// Makes a user that must prove who it is, which nobody else must.
    pub fn guard(&self, user: &str, password: &str) {
        let rules = self.folder.join("run/data/pg_hba.conf");
        let others = fs::read_to_string(&rules).expect("the rules of initdb");
        fs::write(&rules, format!("host all {user} all scram-sha-256\n{others}")).expect("the rules");
        let sql = format!("CREATE ROLE {user} SUPERUSER LOGIN PASSWORD '{password}'; SELECT pg_reload_conf()");
        database::run(&self.url("postgres"), &sql);
    }

    /// Makes a database and answers its URL.
    pub fn create(&self, name: &str) -> String {
        database::run(&self.url("postgres"), &format!("CREATE DATABASE {name}"));
        self.url(name)
    }

    fn url(&self, database: &str) -> String {
        format!("postgresql://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Runs statements in the database of a URL and answers the first column of their rows, as text. Blocks the thread.
    pub fn run(&self, url: &str, sql: &str) -> Vec<String> {
        database::run(url, sql)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        launch::stop_what_is_left(&self.folder.join("run"));
        if self.in_use.is_some() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}
