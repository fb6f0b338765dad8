//! The process between the gateway and one program.

use std::io::{Read, Stdout, Write};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, set_child_subreaper};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::permit::{FOREVER, moment};
use super::wire::{END, End, Order, PERMIT, STARTED, STDERR, STDOUT, STOP, read_order};
use super::{descendants, wire};

/// What happens while the program runs.
enum Happening {
    /// The program itself has ended; what it started may go on.
    Exited(std::io::Result<ExitStatus>),
    /// The gateway wants it stopped.
    Stop,
    /// It may run until this moment.
    Permitted(u64),
    /// The gateway has gone.
    Orphaned,
    /// One of the program's output streams is at its end.
    Drained,
}

/// How long the last output may take once every process has ended.
const DRAIN: Duration = Duration::from_secs(1);
/// How often a permit that ends is looked at.
const LOOK_AT_PERMIT: Duration = Duration::from_secs(1);
/// How often the processes left behind are looked for while they end.
const LOOK: Duration = Duration::from_millis(5);

/// Serves as a warden: standard input and output speak the words of `wire.rs`; ends when the program and all that it started have ended.
pub fn main() -> ExitCode {
    deafen();
    // Without this, what the program leaves behind would go to init, out of our reach.
    let _ = set_child_subreaper(Some(getpid()));
    let mut control = std::io::stdin();
    let Ok(order) = read_order(&mut control) else { return ExitCode::FAILURE };
    let mut stdin = vec![0; order.stdin_bytes];
    // All of it is read before the program starts: a gateway that dies halfway starts nothing.
    if control.read_exact(&mut stdin).is_err() {
        return ExitCode::FAILURE;
    }
    let out = Arc::new(Mutex::new(std::io::stdout()));
    // Before the program: one that runs cannot be unstarted when there is nobody to read what it says.
    let end = match Crew::hire() {
        Ok(crew) => match start(&order) {
            Ok(child) => attend(child, &order, stdin, control, &out, crew),
            Err(error) if short_of_means(&error) => End::NoMeans(error.to_string()),
            Err(error) => End::NotStarted(why_not_started(&order, &error)),
        },
        Err(error) => End::NoMeans(format!("no thread could be started: {error}")),
    };
    let report = serde_json::to_vec(&end).unwrap_or_default();
    say(&out, END, &report);
    ExitCode::SUCCESS
}

fn start(order: &Order) -> std::io::Result<Child> {
    let (program, arguments) = order.argv.split_first().ok_or(std::io::ErrorKind::InvalidInput)?;
    #[expect(clippy::disallowed_methods, reason = "the warden is where programs are started")]
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(order.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if let Some(cwd) = &order.cwd {
        command.current_dir(cwd);
    }
    command.spawn()
}

/// Whether a start failed for a fault of the machine's, which goes away by itself, and not of the program's.
fn short_of_means(error: &std::io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE | Errno::IO | Errno::NOSPC))
}

/// A warden ends with its program or its gateway, not by the polite signals: a program could send them to its parent, and somebody
/// who ends all that is called doorbell means the gateway. Caught, not ignored: programs would inherit that.
fn deafen() {
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        // It can fail only for signals that cannot be caught.
        let _ = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
    }
}

/// The system says "no such file" of a folder and of a program alike.
fn why_not_started(order: &Order, error: &std::io::Error) -> String {
    // Nothing is started any more, so the warden can try the folder itself.
    match order.cwd.as_ref().map(|cwd| (cwd, std::env::set_current_dir(cwd))) {
        Some((cwd, Err(why))) => format!("its folder (cwd) {cwd} cannot be used: {why}"),
        _ => error.to_string(),
    }
}

fn attend(
    mut child: Child,
    order: &Order,
    stdin: Vec<u8>,
    control: std::io::Stdin,
    out: &Arc<Mutex<Stdout>>,
    mut crew: Crew,
) -> End {
    say(out, STARTED, &child.id().to_be_bytes());
    let deadline = Instant::now() + Duration::from_millis(order.timeout_ms);
    let grace = Duration::from_millis(order.grace_ms);
    let (happened, happenings) = channel();
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (listener, reader, other_reader) = (happened.clone(), happened.clone(), happened.clone());
    let (stdout, stderr) = (Arc::clone(out), Arc::clone(out));
    crew.give(move || feed(input, &stdin));
    crew.give(move || listen(control, &listener));
    crew.give(move || forward(output, STDOUT, &stdout, &reader));
    crew.give(move || forward(errors, STDERR, &stderr, &other_reader));
    // A process id is below 2^31 and never 0.
    let group = Pid::from_child(&child);
    crew.give(move || {
        let status = child.wait();
        let _ = happened.send(Happening::Exited(status));
    });
    let mut watch = Watch { happenings, group, exited: None, streams: 2, permitted_until: order.permitted_until };
    let early = watch.until_exit(deadline);
    if early.is_some() {
        descendants::signal_all(group, Signal::TERM);
    }
    watch.end_everything(grace);
    watch.drain();
    early.unwrap_or_else(|| watch.exit())
}

type Task = Box<dyn FnOnce() + Send>;

/// The threads of a warden, which wait for their tasks.
struct Crew(Vec<Sender<Task>>);

impl Crew {
    /// Threads that a warden needs.
    const SIZE: usize = 5;

    fn hire() -> std::io::Result<Crew> {
        let hire_one = |_| {
            let (give, take) = channel::<Task>();
            thread::Builder::new().spawn(move || take.recv().map(|task| task())).map(|_| give)
        };
        (0..Crew::SIZE).map(hire_one).collect::<std::io::Result<_>>().map(Crew)
    }

    /// Gives a task to one who has none.
    fn give(&mut self, task: impl FnOnce() + Send + 'static) {
        if let Some(idle) = self.0.pop() {
            let _ = idle.send(Box::new(task));
        }
    }
}

struct Watch {
    happenings: Receiver<Happening>,
    group: Pid,
    exited: Option<std::io::Result<ExitStatus>>,
    streams: u8,
    permitted_until: u64,
}

impl Watch {
    /// Waits until the program has ended by itself, or answers why it must end.
    fn until_exit(&mut self, deadline: Instant) -> Option<End> {
        while self.exited.is_none() {
            let time = deadline.saturating_duration_since(Instant::now());
            let permitted = Duration::from_millis(self.permitted_until.saturating_sub(moment()));
            if permitted.is_zero() {
                return Some(End::Stopped);
            }
            if time.is_zero() {
                return Some(End::TimedOut);
            }
            // A wait does not go on while the machine is suspended, the permit does.
            let wait = if self.permitted_until == FOREVER { time } else { time.min(permitted).min(LOOK_AT_PERMIT) };
            match self.happenings.recv_timeout(wait) {
                Ok(Happening::Stop | Happening::Orphaned) | Err(RecvTimeoutError::Disconnected) => {
                    return Some(End::Stopped);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Ok(other) => self.note(other),
            }
        }
        None
    }

    /// Ends the program, when it has not ended, and what it has left behind: politely first, then without asking.
    fn end_everything(&mut self, grace: Duration) {
        let politely_until = Instant::now() + grace;
        let mut asked = self.exited.is_none();
        loop {
            if self.exited.is_some() && descendants::reap_all() {
                return;
            }
            if Instant::now() >= politely_until {
                descendants::signal_all(self.group, Signal::KILL);
            } else if !asked {
                descendants::signal_all(self.group, Signal::TERM);
                asked = true;
            }
            if let Ok(happening) = self.happenings.recv_timeout(LOOK) {
                self.note(happening);
            }
        }
    }

    /// Lets the readers reach the ends of their streams. Nobody is left who could hold them open; the limit is for the
    /// case of a process that escaped even the warden.
    fn drain(&mut self) {
        let until = Instant::now() + DRAIN;
        while self.streams > 0 {
            match self.happenings.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(happening) => self.note(happening),
                Err(_) => return,
            }
        }
    }

    fn note(&mut self, happening: Happening) {
        match happening {
            Happening::Exited(status) => self.exited = Some(status),
            Happening::Drained => self.streams -= 1,
            Happening::Permitted(until) => self.permitted_until = until,
            // It is ending already.
            Happening::Stop | Happening::Orphaned => {}
        }
    }

    fn exit(self) -> End {
        match self.exited {
            Some(Ok(status)) => match (status.code(), status.signal()) {
                (Some(code), _) => End::Code(code),
                (None, signal) => End::Signal(signal.unwrap_or(0)),
            },
            Some(Err(error)) => End::NotStarted(format!("cannot wait for the program: {error}")),
            None => End::Stopped,
        }
    }
}

/// Writes the program's input: one that does not read must hold nothing else up, and one that ends without reading is no
/// error.
fn feed(pipe: Option<std::process::ChildStdin>, stdin: &[u8]) {
    if let Some(mut pipe) = pipe {
        let _ = pipe.write_all(stdin);
    }
}

fn listen(mut control: std::io::Stdin, happened: &Sender<Happening>) {
    let (mut byte, mut until) = ([0], [0; 8]);
    loop {
        let happening = match control.read(&mut byte) {
            Ok(0) => Happening::Orphaned,
            Ok(_) if byte[0] == STOP => Happening::Stop,
            Ok(_) if byte[0] == PERMIT => match control.read_exact(&mut until) {
                Ok(()) => Happening::Permitted(u64::from_be_bytes(until)),
                Err(_) => Happening::Orphaned,
            },
            Err(error) if error.kind() != std::io::ErrorKind::Interrupted => Happening::Orphaned,
            _ => continue,
        };
        let last = matches!(happening, Happening::Orphaned);
        if happened.send(happening).is_err() || last {
            return;
        }
    }
}

fn forward(pipe: Option<impl Read>, tag: u8, out: &Mutex<Stdout>, happened: &Sender<Happening>) {
    let mut buffer = vec![0; 32 * 1024];
    if let Some(mut pipe) = pipe {
        loop {
            match pipe.read(&mut buffer) {
                Ok(0) => break,
                // What a gateway that has gone cannot take is read all the same, so that the program is not held up.
                Ok(length) => say(out, tag, &buffer[..length]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
    }
    let _ = happened.send(Happening::Drained);
}

fn say(out: &Mutex<Stdout>, tag: u8, bytes: &[u8]) {
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = wire::write_frame(&mut *out, tag, bytes);
}
