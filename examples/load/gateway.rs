//! A real gateway in a home of its own.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

pub(crate) const SECRET: &str = "a-secret-for-measuring";

pub(crate) struct Gateway {
    pub(crate) address: SocketAddr,
    pub(crate) stamps: PathBuf,
    process: Child,
}

/// Starts `serve`: route `queue` keeps one run busy for ever so that its events queue, route `wake` stamps the time.
pub(crate) fn start(binary: &Path, folder: &Path) -> Gateway {
    let stamps = folder.join("stamps");
    std::fs::create_dir(&stamps).expect("a folder for stamps");
    let own = std::env::current_exe().expect("our own path");
    let config = serde_json::json!({
        "server": {"port": 0, "secret": SECRET, "max_connections": 2048},
        "admin": {"port": 0},
        "agents": {
            "busy": {"preset": "command", "command": ["sleep", "3600"], "max_concurrent": 1, "timeout": "2h"},
            "stamp": {"preset": "command", "command": [own, "stamp", stamps.join("{}")], "hint": false}
        },
        "routes": {"queue": {"agent": "busy"}, "wake": {"agent": "stamp", "prompt": "{delivery_id}"}},
    });
    std::fs::write(folder.join("config.yaml"), config.to_string()).expect("a configuration");
    let log = std::fs::File::create(folder.join("log")).expect("a log");
    #[expect(clippy::disallowed_methods, reason = "the bench starts the gateway that it measures")]
    let mut process = Command::new(binary)
        .args(["serve", "--home"])
        .arg(folder)
        .env("DOORBELL_LOG", "warn")
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .expect("doorbell starts");
    let mut ready = String::new();
    BufReader::new(process.stdout.take().expect("its output")).read_line(&mut ready).expect("its ready line");
    let address = ready.split("http://").nth(1).and_then(|rest| rest.split(',').next());
    let address = address.and_then(|text| text.trim().parse().ok());
    let log = || std::fs::read_to_string(folder.join("log")).unwrap_or_default();
    Gateway { address: address.unwrap_or_else(|| panic!("no ready line: {ready}{}", log())), stamps, process }
}

impl Gateway {
    /// Resident memory of the gateway's process, in MB.
    pub(crate) fn resident_mb(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib: u64 = line.and_then(|text| text.split_whitespace().next()?.parse().ok()).unwrap_or(0);
        kib * 1024 / 1_000_000
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
