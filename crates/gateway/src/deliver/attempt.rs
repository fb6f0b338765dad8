//! One attempt: plan, do, judge.

use std::time::Duration;

use ledger::ClaimedDelivery;
use targets::{End, Message, Process, Reply, Step, Surroundings, Target, Verdict};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::append;
use crate::Core;
use crate::egress::Client;
use crate::process::{self, Exit, Job, Mark};

/// Bytes of a program's stderr that are kept for the error.
const STDERR_KEPT: usize = 4096;

/// How long a program waits for a machine that is short of what a start takes, before that is an attempt.
const MEANS: Duration = Duration::from_mins(5);

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
        Step::Append(line) => append::append(line, target.timeout).await,
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
        permit: core.permits.permit(),
        started: CancellationToken::new(),
    };
    let report = start_when_possible(core, &job).await;
    let end = match report.exit {
        Exit::Code(status) => End::Code(status),
        Exit::Signal(number) => End::Signal(number),
        Exit::TimedOut | Exit::Stopped => End::TimedOut(target.timeout),
        Exit::Lost => return Reply::NoAnswer("the process that watched over the program was killed".into()),
        Exit::NotStarted(why) | Exit::NoMeans(why) => {
            let program = process.argv.first().map_or("", String::as_str);
            return Reply::NotSent(format!("cannot start {program}: {why}"));
        }
    };
    Reply::Ended { end, stderr_end: report.stderr }
}

/// Runs a program. Where the machine is short of what a start takes, nothing has been sent: it is tried again here for a while,
/// since an attempt that failed would count.
async fn start_when_possible(core: &Core, job: &Job) -> process::Report {
    let until = Instant::now() + MEANS;
    let mut wait = Duration::from_secs(1);
    loop {
        let report = process::run(job.clone(), &CancellationToken::new()).await;
        if job.started.is_cancelled() {
            core.brake.release();
        }
        match &report.exit {
            Exit::NoMeans(why) if Instant::now() < until => core.brake.pull(why),
            _ => return report,
        }
        sleep(wait).await;
        wait = (2 * wait).min(Duration::from_secs(15));
    }
}
