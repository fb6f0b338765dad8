//! The gateway's side: start a warden, give it its order, take the frames.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::GRACE;
use super::capture::{Head, Tail};
use super::marked::{self, Mark};
use super::permit::Permit;
use super::private::private_file;
use super::wire::{self, End, LARGEST_FRAME, Order};

/// What a warden may take beyond the grace, once it is to end its program, before it counts as lost.
const SLACK: Duration = Duration::from_secs(3);
/// How often a warden that is to end its program is woken, should it have been halted.
const WAKE: Duration = Duration::from_millis(500);

/// A program to run.
#[derive(Debug, Clone)]
pub struct Job {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Its whole environment; the mark is added.
    pub env: Vec<(String, String)>,
    /// Its folder; the gateway's own when `None`.
    pub cwd: Option<String>,
    /// What its processes are known by, also to a later gateway. No other job may have the same while this one runs.
    pub mark: Mark,
    /// What it reads on standard input.
    pub stdin: Vec<u8>,
    /// How long it may run.
    pub timeout: Duration,
    /// A file that is locked while anything of it runs; made here, removed at the end.
    pub lock: PathBuf,
    /// Bytes of standard output that are kept, from the beginning.
    pub stdout_limit: usize,
    /// Bytes of standard error that are kept, from the end.
    pub stderr_limit: usize,
    /// Until when it may run at all; it is stopped then.
    pub permit: Permit,
    /// Cancelled once the program has been started.
    pub started: CancellationToken,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this status.
    Code(i32),
    /// By this signal, which was not ours.
    Signal(i32),
    /// Its time was over.
    TimedOut,
    /// Somebody asked for it.
    Stopped,
    /// Its warden was killed; what was left of it has been ended.
    Lost,
    /// It could not be started; the text says why.
    NotStarted(String),
    /// It was not started, because the machine was short of files, processes, memory or disk; the text says of what.
    NoMeans(String),
}

/// What came of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How it ended.
    pub exit: Exit,
    /// The kept part of its standard output.
    pub stdout: Vec<u8>,
    /// Whether there was more.
    pub stdout_cut: bool,
    /// The end of its standard error.
    pub stderr: String,
}

/// Runs a program to its end, or until `stop` is cancelled. Everything that it started has ended when this returns.
pub async fn run(job: Job, stop: &CancellationToken) -> Report {
    let lock_path = job.lock.clone();
    let report = match start(&job) {
        Ok(warden) => {
            points::reach("process.spawned");
            attend(warden, job, stop).await
        }
        Err(error) => report(Exit::NoMeans(format!("no process to watch over it could be started: {error}"))),
    };
    points::reach("process.ended");
    // Only now, when nothing of it runs any more.
    let _ = std::fs::remove_file(lock_path);
    points::reach("process.unlocked");
    report
}

fn report(exit: Exit) -> Report {
    Report { exit, stdout: Vec::new(), stdout_cut: false, stderr: String::new() }
}

fn start(job: &Job) -> std::io::Result<Child> {
    let lock = private_file(&job.lock)?;
    flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
    points::reach("process.locked");
    // The link stays right when the file is replaced by an upgrade while we run.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts processes")]
    let mut warden = Command::new("/proc/self/exe");
    warden
        .arg0("doorbell-warden")
        .arg("warden")
        .env_clear()
        .envs([job.mark.entry()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::from(lock))
        // A Ctrl-C meant for the gateway must not reach the warden.
        .process_group(0);
    warden.spawn()
}

async fn attend(mut warden: Child, mut job: Job, stop: &CancellationToken) -> Report {
    let (Some(control), Some(frames)) = (warden.stdin.take(), warden.stdout.take()) else {
        return report(Exit::NoMeans("the warden has no pipes".into()));
    };
    let (name, value) = job.mark.entry();
    let mark = (name.to_owned(), value.to_owned());
    let order = Order {
        argv: job.argv,
        // The last entry of a name counts.
        env: job.env.into_iter().chain([mark]).collect(),
        cwd: job.cwd,
        stdin_bytes: job.stdin.len(),
        permitted_until: job.permit.until(),
        timeout_ms: u64::try_from(job.timeout.as_millis()).unwrap_or(u64::MAX),
        grace_ms: u64::try_from(GRACE.as_millis()).unwrap_or(u64::MAX),
    };
    let mut stdout = Head::new(job.stdout_limit);
    let mut stderr = Tail::new(job.stderr_limit);
    let mut group = None;
    let began = Instant::now();
    let warden_pid = warden.id().and_then(|pid| Pid::from_raw(pid.try_into().ok()?));
    // The control pipe must stay open until the end: closing it means that the gateway has gone.
    let (talk, listen) = (
        talk(control, &order, &job.stdin, &mut job.permit, stop),
        listen(frames, &mut stdout, &mut stderr, &mut group, &job.started),
    );
    let end = tokio::select! {
        end = listen => end,
        () = overdue(warden_pid, job.timeout, stop) => None,
        never = talk => match never {},
    };
    let exit = match end {
        Some(End::Code(code)) => Exit::Code(code),
        Some(End::Signal(signal)) => Exit::Signal(signal),
        Some(End::TimedOut) => Exit::TimedOut,
        Some(End::Stopped) => Exit::Stopped,
        Some(End::NotStarted(why)) => Exit::NotStarted(why),
        Some(End::NoMeans(why)) => Exit::NoMeans(why),
        None => {
            let exit = if stop.is_cancelled() {
                Exit::Stopped
            } else if began.elapsed() >= job.timeout {
                Exit::TimedOut
            } else {
                Exit::Lost
            };
            let _ = warden.start_kill();
            // Its grace is over when it should have ended before.
            let grace = if exit == Exit::Lost { GRACE } else { Duration::ZERO };
            end_without_warden(job.mark, group, grace).await;
            exit
        }
    };
    let _ = warden.wait().await;
    Report { exit, stdout: stdout.bytes, stdout_cut: stdout.cut, stderr: stderr.into_text() }
}

/// Returns when a warden that is to end its program, because its time is over or because of `stop`, should long have done
/// it. Meanwhile it wakes it: a program can halt its warden.
async fn overdue(warden: Option<Pid>, timeout: Duration, stop: &CancellationToken) {
    tokio::select! {
        () = sleep(timeout) => {}
        () = stop.cancelled() => {}
    }
    let since = Instant::now();
    while since.elapsed() < GRACE + SLACK {
        if let Some(warden) = warden {
            let _ = kill_process(warden, Signal::CONT);
        }
        sleep(WAKE).await;
    }
}

/// Ends a program that nobody watches over any more: it must not live on beside its rerun.
async fn end_without_warden(mark: Mark, group: Option<Pid>, grace: Duration) {
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let swept = tokio::task::spawn_blocking(move || marked::sweep(&mark, grace)).await;
    if let Ok(Err(error)) = swept {
        tracing::error!(%error, "a program without its warden may still run");
    }
}

/// Gives the order and the input, then says what changes, until there is the wish to stop. Never returns: dropping it closes the pipe.
async fn talk(
    mut control: ChildStdin,
    order: &Order,
    stdin: &[u8],
    permit: &mut Permit,
    stop: &CancellationToken,
) -> std::convert::Infallible {
    let mut line = serde_json::to_vec(order).unwrap_or_default();
    line.push(b'\n');
    // A warden that has gone shows at the end of its frames.
    let _ = control.write_all(&line).await;
    let _ = control.write_all(stdin).await;
    let _ = control.flush().await;
    loop {
        let until = tokio::select! {
            () = stop.cancelled() => break,
            until = permit.changed() => until,
        };
        let mut words = [wire::PERMIT, 0, 0, 0, 0, 0, 0, 0, 0];
        words[1..].copy_from_slice(&until.to_be_bytes());
        let _ = control.write_all(&words).await;
        let _ = control.flush().await;
    }
    let _ = control.write_all(&[wire::STOP]).await;
    let _ = control.flush().await;
    std::future::pending().await
}

/// Takes frames until the last one; `None` when the warden ended without it. `group` becomes the program's group.
async fn listen(
    mut frames: ChildStdout,
    stdout: &mut Head,
    stderr: &mut Tail,
    group: &mut Option<Pid>,
    started: &CancellationToken,
) -> Option<End> {
    let mut body = Vec::new();
    loop {
        let mut head = [0; 5];
        frames.read_exact(&mut head).await.ok()?;
        let [tag, length @ ..] = head;
        let length = u32::from_be_bytes(length);
        if length > LARGEST_FRAME {
            return None;
        }
        body.resize(usize::try_from(length).ok()?, 0);
        frames.read_exact(&mut body).await.ok()?;
        match tag {
            wire::STARTED => {
                *group = body.as_slice().try_into().ok().map(i32::from_be_bytes).and_then(Pid::from_raw);
                points::reach("process.started");
                started.cancel();
            }
            wire::STDOUT => stdout.push(&body),
            wire::STDERR => stderr.push(&body),
            wire::END => return serde_json::from_slice(&body).ok(),
            _ => {}
        }
    }
}
