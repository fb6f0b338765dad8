//! One run, from its claim to its end on record.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::Route;
use ledger::{ClaimedRun, FinishRun, Finished, RunRecord};
use rules::retry::Backoff;
use rules::run_end::{self, Ending, Policy};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::flights::Flight;
use super::outcome::{Outcome, Parcel};
use super::prepare::{self, Prepared, Unprepared};
use super::stop_command;
use crate::life::fence::{Fence, Verdict};
use crate::process::{self, Exit, Job, Mark, Report};
use crate::signals::RunEnded;
use crate::{Core, chance};

/// Bytes of an agent's stderr that are kept.
const STDERR_KEPT: usize = 64 << 10;
/// How often a result that the ledger does not take is offered again.
const OFFER_AGAIN: Duration = Duration::from_secs(1);

/// Carries a run to its end. Returns when the end is on record, or when it is clear that it never will be.
pub(super) async fn fly(core: &Arc<Core>, run: ClaimedRun, flight: &Flight) {
    let began = Instant::now();
    let config = core.config();
    let (outcome, policy, parcels) = match prepare::prepare(core, &config, &run).await {
        Ok(prepared) => {
            let outcome = call(core, &run, &prepared, flight).await;
            (outcome, policy(Some(&prepared.route)), prepared.parcels)
        }
        Err(Unprepared::Fault(why)) => (Outcome::unprepared(why), policy(None), Vec::new()),
        Err(Unprepared::Ledger(error)) => {
            core.signals.ledger_failed("prepare a run", &error);
            (Outcome::unstarted(flight.wish(), &error.to_string()), policy(None), Vec::new())
        }
    };
    if outcome.ending == Ending::Unstarted {
        core.brake.pull(outcome.record.error.as_deref().unwrap_or_default());
    }
    land(core, &run, outcome, &policy, parcels, began).await;
}

/// The retries of a run's route. When that has gone meanwhile, the event is tried once more, and held by then.
pub(super) fn policy(route: Option<&Route>) -> Policy {
    match route {
        Some(route) => Policy { max_retries: route.max_retries, backoff: route.backoff },
        None => {
            Policy { max_retries: 1, backoff: Backoff { first: Duration::from_mins(1), cap: Duration::from_mins(30) } }
        }
    }
}

async fn call(core: &Core, run: &ClaimedRun, prepared: &Prepared, flight: &Flight) -> Outcome {
    let call = &prepared.call;
    match core.ledger.record_prompt(&run.run_id, core.boot(), &prepared.prompt).await {
        Ok(true) => {}
        Ok(false) => {
            return Outcome::cut_off(flight.wish(), "the run was taken over by another gateway", RunRecord::default());
        }
        // The prompt on record is for people; a ledger that is behind must not cost the run.
        Err(error) => core.signals.ledger_failed("record a prompt", &error),
    }
    if let Some(file) = &call.prompt_file
        && let Err(error) = process::write_private(Path::new(&file.path), file.content.as_bytes())
    {
        return Outcome::unstarted(flight.wish(), &format!("cannot write the prompt's file {}: {error}", file.path));
    }
    points::reach("run.prepared");
    let agent = &prepared.agent;
    let timeout = prepared.route.timeout.unwrap_or(agent.timeout);
    let job = Job {
        argv: call.argv.clone(),
        env: call.env.clone(),
        cwd: call.cwd.clone(),
        mark: Mark::run(&run.run_id),
        stdin: call.stdin.clone().unwrap_or_default().into_bytes(),
        timeout,
        lock: prepare::lock_file(core, &run.run_id),
        stdout_limit: usize::try_from(agent.max_output_bytes).unwrap_or(usize::MAX),
        stderr_limit: STDERR_KEPT,
        permit: core.permits.permit(),
        started: CancellationToken::new(),
    };
    let started = job.started.clone();
    let mut running = Box::pin(process::run(job, &flight.stop));
    let report = tokio::select! {
        biased;
        () = started.cancelled() => {
            core.brake.release();
            core.signals.run_started(&run.route, &run.agent, &run.event_id, &run.run_id, run.attempt);
            running.await
        }
        report = &mut running => report,
    };
    if let (Exit::TimedOut | Exit::Stopped | Exit::Lost, Some(stop)) = (&report.exit, &call.stop) {
        stop_command::run(core, &run.run_id, stop).await;
    }
    points::reach("run.ended");
    if let Some(file) = &call.prompt_file {
        let _ = std::fs::remove_file(&file.path);
    }
    let verdict = || agent.judge(&exit(&report, timeout, &call.argv), &report.stdout, report.stdout_cut);
    Outcome::of(&report, flight.wish(), verdict)
}

/// The end of a process in the words of the agents' rules.
fn exit(report: &Report, timeout: Duration, argv: &[String]) -> agents::Exit {
    match &report.exit {
        Exit::Code(code) => agents::Exit::Code(*code),
        Exit::Signal(signal) => agents::Exit::Signal(*signal),
        Exit::TimedOut => agents::Exit::TimedOut(timeout),
        Exit::Stopped => agents::Exit::Signal(15),
        Exit::Lost => agents::Exit::Lost,
        Exit::NotStarted(why) | Exit::NoMeans(why) => {
            agents::Exit::NotStarted { program: argv.first().cloned().unwrap_or_default(), why: why.clone() }
        }
    }
}

async fn land(core: &Core, run: &ClaimedRun, outcome: Outcome, policy: &Policy, parcels: Vec<Parcel>, began: Instant) {
    let now = core.clock.now();
    let next = run_end::judge(outcome.ending.clone(), run.standing, policy, now, chance::jitter());
    let deliveries = outcome.deliveries(parcels, now);
    let unstarted = outcome.ending == Ending::Unstarted;
    let finish = FinishRun {
        run_id: run.run_id.clone(),
        boot: core.boot(),
        attempt: run.attempt,
        ended_at: now,
        state: outcome.state,
        record: outcome.record,
        next,
        deliveries,
    };
    let error = finish.record.error.clone();
    let event_state = finish.next.state.as_str();
    if record(core, &finish).await == Finished::Fenced {
        tracing::warn!(run_id = run.run_id, "the run's result came too late and was not written");
        return;
    }
    if unstarted {
        // The brake says it once, not for each try.
        tracing::debug!(run_id = run.run_id, error, "run not started");
        return;
    }
    core.signals.run_ended(&RunEnded {
        route: &run.route,
        agent: &run.agent,
        run_id: &run.run_id,
        outcome: finish.state.as_str(),
        took: began.elapsed(),
        event_state,
        error: error.as_deref(),
    });
}

/// Offers a result to the ledger until it takes it: neither a full disk nor a database that is away may cost a paid answer.
/// A ledger that was closed ends it: the next life finds the run unfinished.
pub(super) async fn record(core: &Core, finish: &FinishRun) -> Finished {
    let mut fence = Fence::default();
    // An offer came to no answer: it may be on record.
    let mut unsure = false;
    loop {
        let boot = core.boot();
        match core.ledger.finish_run(FinishRun { boot, ..finish.clone() }).await {
            Ok(Finished::Written) => return Finished::Written,
            Ok(Finished::Fenced) => match fence.ask(core, boot).await {
                Ok(Verdict::Again) => continue,
                Ok(Verdict::Over) if unsure => match is_on_record(core, finish).await {
                    Ok(true) => return Finished::Written,
                    Ok(false) | Err(ledger::Error::Closed) => return Finished::Fenced,
                    Err(error) => core.signals.ledger_failed("record a run's result", &error),
                },
                Ok(Verdict::Over) | Err(ledger::Error::Closed) => return Finished::Fenced,
                Err(error) => core.signals.ledger_failed("record a run's result", &error),
            },
            Err(ledger::Error::Closed) => return Finished::Fenced,
            Err(error @ ledger::Error::Conflict(_)) => {
                tracing::error!(run_id = finish.run_id, %error, "the run's result cannot be recorded");
                return Finished::Fenced;
            }
            Err(error) => {
                unsure = true;
                core.signals.ledger_failed("record a run's result", &error);
            }
        }
        sleep(OFFER_AGAIN).await;
    }
}

/// Whether it was this result that ended the run.
async fn is_on_record(core: &Core, finish: &FinishRun) -> Result<bool, ledger::Error> {
    let run = core.ledger.run(&finish.run_id).await?;
    Ok((run.state, run.attempt, run.finished_at) == (finish.state, finish.attempt, Some(finish.ended_at)))
}
