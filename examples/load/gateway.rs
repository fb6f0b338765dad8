//! A real gateway in a home of its own.

mod setup;
mod watch;

pub(crate) use setup::{OTHER_ROUTES, SECRET, Setup, other_route, stamps};
pub(crate) use watch::{Seen, Watch};

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// How long anything that is waited for may take before the bench gives up.
pub(crate) const PATIENCE: Duration = Duration::from_mins(10);

pub(crate) struct Gateway {
    pub(crate) public: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) home: PathBuf,
    /// From its start to the line that says that it is ready.
    pub(crate) said_ready_after: Duration,
    began: Instant,
    process: Child,
}

impl Gateway {
    /// Starts `serve` on a home whose configuration is written.
    pub(crate) fn start(binary: &Path, home: &Path) -> Gateway {
        let log = File::options().create(true).append(true).open(home.join("log")).expect("a log");
        let began = Instant::now();
        #[expect(clippy::disallowed_methods, reason = "the bench starts the gateway that it measures")]
        let mut process = Command::new(binary)
            .args(["serve", "--home"])
            .arg(home)
            .env("DOORBELL_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("doorbell starts");
        let mut ready = String::new();
        BufReader::new(process.stdout.take().expect("its output")).read_line(&mut ready).expect("its ready line");
        let said_ready_after = began.elapsed();
        let mut addresses = ready.split("http://").skip(1).map(|rest| {
            let text = rest.split([',', '\n']).next().unwrap_or_default();
            text.trim().parse::<SocketAddr>().expect("an address")
        });
        let (Some(public), Some(admin)) = (addresses.next(), addresses.next()) else {
            panic!("no ready line: {ready}{}", std::fs::read_to_string(home.join("log")).unwrap_or_default())
        };
        Gateway { public, admin, home: home.to_owned(), said_ready_after, began, process }
    }

    /// From its start to the first time that it says itself ready to take events; polls each millisecond.
    pub(crate) fn wait_ready(&self) -> Duration {
        until("the gateway is ready", Duration::from_millis(1), || {
            (ask(self.admin, "GET", "/readyz").0 == 200).then(|| self.began.elapsed())
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// `VmRSS` or `VmHWM` of its process, in KiB.
    pub(crate) fn memory_kib(&self, name: &str) -> u64 {
        memory_kib(self.pid(), name)
    }

    /// Bytes that its process has caused to be written to the disk.
    pub(crate) fn written(&self) -> u64 {
        number(&format!("/proc/{}/io", self.pid()), "write_bytes:")
    }

    /// A document of the admin API.
    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, body) = ask(self.admin, "GET", &format!("/api/v1{path}"));
        assert_eq!(status, 200, "GET {path}: {body}");
        serde_json::from_str(&body).expect("JSON")
    }

    /// How many events are in a state.
    pub(crate) fn events(&self, state: &str) -> u64 {
        self.get("/status")["events"][state].as_u64().expect("a count")
    }

    /// Stops it politely and waits until it has gone.
    pub(crate) fn stop(mut self) {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw).expect("a process id");
        kill_process(pid, Signal::TERM).expect("the gateway gets the signal");
        self.process.wait().expect("a child");
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn memory_kib(pid: u32, name: &str) -> u64 {
    number(&format!("/proc/{pid}/status"), &format!("{name}:"))
}

/// The number behind a word that begins a line; 0 when there is none.
fn number(file: &str, word: &str) -> u64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(word));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// One request on a connection of its own; status 0 when there is no answer.
pub(crate) fn ask(address: SocketAddr, method: &str, path: &str) -> (u16, String) {
    let exchange = || {
        let mut stream = TcpStream::connect(address)?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map(|_| answer)
    };
    let answer: String = exchange().unwrap_or_default();
    let status = answer.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    (status, answer.split_once("\r\n\r\n").map_or_else(String::new, |(_, body)| body.to_owned()))
}

/// Looks again and again until there is an answer.
pub(crate) fn until<T>(what: &str, every: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "in vain: {what}");
        std::thread::sleep(every);
    }
}
