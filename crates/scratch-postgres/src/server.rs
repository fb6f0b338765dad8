//! A server for measuring: on the disk, with PostgreSQL's own defaults about what is safe.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::{database, launch};

/// A server of one's own. It is stopped when this is dropped.
#[derive(Debug)]
pub struct Server {
    folder: PathBuf,
    port: u16,
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
        Server { folder: folder.to_owned(), port }
    }

    /// Makes a database and answers its URL.
    pub fn create(&self, name: &str) -> String {
        let url = |name: &str| format!("postgresql://postgres@127.0.0.1:{}/{name}", self.port);
        database::run(&url("postgres"), &format!("CREATE DATABASE {name}"));
        url(name)
    }

    /// Runs statements in the database of a URL and answers the first column of their rows, as text. Blocks the thread.
    pub fn run(&self, url: &str, sql: &str) -> Vec<String> {
        database::run(url, sql)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        launch::stop_what_is_left(&self.folder.join("run"));
    }
}
