//! A gateway in a process of its own, so that it can be killed.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process};
use tokio::signal::unix::{SignalKind, signal};

/// A running `doorbell serve`.
pub(super) struct Gateway {
    /// Where webhooks go.
    pub(super) public: String,
    pub(super) public_address: SocketAddr,
    /// Where people look.
    pub(super) admin: String,
    pub(super) admin_address: SocketAddr,
    pub(super) token: String,
    process: Child,
}

impl Gateway {
    /// Starts it and waits until it is ready. Its log goes to `gateway.log` in the home.
    pub(super) fn start(home: &Path) -> anyhow::Result<Gateway> {
        let log_path = home.join("gateway.log");
        let log = std::fs::File::options().create(true).append(true).open(&log_path).context("cannot make a log")?;
        let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("/proc/self/exe"));
        #[expect(clippy::disallowed_methods, reason = "the demo starts a gateway to kill it")]
        let mut process = Command::new(own)
            .args(["serve", "--home"])
            .arg(home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .context("cannot start the gateway")?;
        let mut ready = String::new();
        if let Some(stdout) = process.stdout.take() {
            BufReader::new(stdout).read_line(&mut ready)?;
        }
        let mut urls = ready.split("http://").skip(1).map(|rest| rest.split([',', '\n']).next().unwrap_or("").trim());
        let (Some(public), Some(admin)) = (urls.next(), urls.next()) else {
            let _ = process.kill();
            let _ = process.wait();
            let log = std::fs::read_to_string(log_path).unwrap_or_default();
            anyhow::bail!("the gateway did not start:\n{log}");
        };
        let token = std::fs::read_to_string(home.join("admin.token")).context("cannot read the admin token")?;
        Ok(Gateway {
            public: format!("http://{public}"),
            public_address: public.parse()?,
            admin: format!("http://{admin}"),
            admin_address: admin.parse()?,
            token: token.trim().to_owned(),
            process,
        })
    }

    /// `kill -9`.
    pub(super) fn kill(mut self) -> anyhow::Result<()> {
        self.process.kill().context("cannot kill the gateway")?;
        self.process.wait().context("cannot wait for the gateway")?;
        Ok(())
    }

    /// Stops it politely.
    pub(super) fn stop(mut self) -> anyhow::Result<()> {
        kill_process(Pid::from_child(&self.process), Signal::TERM).context("cannot stop the gateway")?;
        let status = self.process.wait().context("cannot wait for the gateway")?;
        anyhow::ensure!(status.success(), "the gateway ended with {status}");
        Ok(())
    }

    /// Waits until it ends by itself, or until a Ctrl-C or SIGTERM, which stops it.
    pub(super) fn wait(mut self) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let asked = runtime.block_on(async {
            let mut interrupt = signal(SignalKind::interrupt())?;
            let mut terminate = signal(SignalKind::terminate())?;
            loop {
                tokio::select! {
                    _ = interrupt.recv() => return anyhow::Ok(true),
                    _ = terminate.recv() => return Ok(true),
                    () = tokio::time::sleep(Duration::from_millis(300)) => {}
                }
                if self.process.try_wait()?.is_some() {
                    return Ok(false);
                }
            }
        })?;
        if asked { self.stop() } else { anyhow::bail!("the gateway ended") }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // An error on the way must not leave a gateway behind; one that has ended is not affected.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
