//! `stop_command`: what ends a run that is out of a warden's reach, such as a container.

use std::time::Duration;

use agents::Stop;
use tokio_util::sync::CancellationToken;

use crate::Core;
use crate::process::{self, Exit, Job, Mark};

/// Long enough for `docker stop`, short enough for a polite stop of the gateway.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Bytes of its output that the log shows.
const SHOWN: usize = 2048;

/// Runs the command and says in the log when it did not do its work; the run's end does not depend on it.
pub(super) async fn run(core: &Core, run_id: &str, stop: &Stop) {
    let job = Job {
        argv: stop.argv.clone(),
        env: stop.env.clone(),
        cwd: stop.cwd.clone(),
        mark: Mark::stop(run_id),
        stdin: Vec::new(),
        timeout: TIMEOUT,
        lock: core.runs_folder().join(format!("{run_id}.stop.lock")),
        stdout_limit: 0,
        stderr_limit: SHOWN,
        permit: core.permits.permit(),
        started: CancellationToken::new(),
    };
    let report = process::run(job, &CancellationToken::new()).await;
    if report.exit != Exit::Code(0) {
        tracing::warn!(run_id, exit = ?report.exit, stderr = report.stderr, "stop_command failed");
    }
}
