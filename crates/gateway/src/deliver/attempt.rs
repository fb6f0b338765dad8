//! One attempt: plan, do, judge.

use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use ledger::ClaimedDelivery;
use targets::{Append, End, Message, Process, Reply, Step, Surroundings, Target, Verdict};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::Core;
use crate::egress::Client;
use crate::process::{self, Exit, Job, Mark};

/// Bytes of a program's stderr that are kept for the error.
const STDERR_KEPT: usize = 4096;

/// Sends a message once.
pub(super) async fn attempt(core: &Core, client: &Client, target: &Target, delivery: &ClaimedDelivery) -> Verdict {
    let home = core.home.to_string_lossy();
    let environment = agents::clean_environment(&core.environment);
    let around = Surroundings { home: &home, now_ms: core.clock.now(), environment: &environment };
    let step = match target.plan(&message(delivery), &around) {
        Ok(step) => step,
        Err(invalid) => return Verdict::Final(invalid.to_string()),
    };
    let reply = match &step {
        Step::Log { line } => {
            tracing::info!(route = delivery.route, delivery_id = delivery.id, answer = %line, "answer");
            Reply::Written
        }
        Step::Append(line) => append(line, target.timeout).await,
        Step::Http(http) => client.send(http, target.timeout).await,
        Step::Process(process) => start(core, delivery, process, target).await,
    };
    target.judge(&step, &reply, core.clock.now())
}

fn message(delivery: &ClaimedDelivery) -> Message {
    Message {
        delivery_id: delivery.id.clone(),
        event_id: delivery.event_id.clone(),
        run_id: delivery.run_id.clone(),
        route: delivery.route.clone(),
        event: delivery.event_type.clone(),
        provider_delivery_id: delivery.provider_delivery_id.clone(),
        hop: delivery.hop,
        content: delivery.content.clone(),
        created_at: ledger::api::views::rfc3339(delivery.created_at),
        extra: delivery.extra.clone(),
    }
}

/// Writes in a thread of its own, which a disk that does not answer may hold for ever: nobody waits for it beyond `patience`.
async fn append(append: &Append, patience: Duration) -> Reply {
    let line = append.clone();
    match timeout(patience, tokio::task::spawn_blocking(move || write_line(&line))).await {
        Ok(Ok(Ok(()))) => Reply::Written,
        Ok(Ok(Err(error))) => Reply::WriteFailed(error.to_string()),
        Ok(Err(error)) => Reply::WriteFailed(error.to_string()),
        Err(_) => Reply::NoAnswer("the disk did not answer in time".into()),
    }
}

/// One write of the whole line, then the disk: an answer that counts as delivered is there after a power cut.
fn write_line(append: &Append) -> std::io::Result<()> {
    let path = Path::new(&append.path);
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true).mode(0o600);
    // A named pipe without a reader would hold the call up for ever.
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    let mut file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a regular file"));
    }
    file.write_all(append.line.as_bytes())?;
    points::reach("delivery.appended");
    file.sync_data()
}

async fn start(core: &Core, delivery: &ClaimedDelivery, process: &Process, target: &Target) -> Reply {
    let job = Job {
        argv: process.argv.clone(),
        env: process.env.clone(),
        cwd: process.cwd.clone(),
        mark: Mark::delivery(&delivery.id),
        stdin: process.stdin.clone().into_bytes(),
        timeout: target.timeout,
        lock: core.runs_folder().join(format!("{}.lock", delivery.id)),
        stdout_limit: 0,
        stderr_limit: STDERR_KEPT,
    };
    let report = process::run(job, &CancellationToken::new()).await;
    let end = match report.exit {
        Exit::Code(status) => End::Code(status),
        Exit::Signal(number) => End::Signal(number),
        Exit::TimedOut | Exit::Stopped => End::TimedOut(target.timeout),
        Exit::Lost => return Reply::NoAnswer("the process that watched over the program was killed".into()),
        Exit::NotStarted(why) => {
            let program = process.argv.first().map_or("", String::as_str);
            return Reply::NotSent(format!("cannot start {program}: {why}"));
        }
    };
    Reply::Ended { end, stderr_end: report.stderr }
}
