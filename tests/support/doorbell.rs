//! A gateway at work, in one or several lives.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};
use serde_json::Value;

use super::http::{self, Answer};
use super::log::Log;
use super::waiting::found;
use super::{Home, Output, PATIENCE, until_some};

/// A `doorbell serve`. Killed when the test is over; its log is shown when the test has failed.
pub(crate) struct Doorbell {
    home: Home,
    life: Option<Life>,
    log: Log,
}

struct Life {
    child: Child,
    public: SocketAddr,
    admin: SocketAddr,
}

impl Doorbell {
    pub(super) fn start(home: Home) -> Doorbell {
        let mut doorbell = Doorbell::dead(home);
        doorbell.begin();
        doorbell
    }

    /// One that has not been started.
    pub(super) fn dead(home: Home) -> Doorbell {
        Doorbell { home, life: None, log: Log::default() }
    }

    /// One whose log goes somewhere else; nothing of it is kept here.
    pub(super) fn start_logging_to(home: Home, log: Stdio) -> Doorbell {
        let mut doorbell = Doorbell::dead(home);
        doorbell.begin_logging_to(log);
        doorbell
    }

    /// Starts another life on the same home.
    pub(crate) fn begin(&mut self) {
        self.begin_logging_to(Stdio::piped());
    }

    /// Starts another life, which may end on its way; answers how it ended when it did.
    pub(crate) fn begin_or_end(&mut self) -> Option<ExitStatus> {
        self.launch(Stdio::piped()).err()
    }

    /// Starts another life and ends it with SIGKILL after so long, ready or not.
    pub(crate) fn begin_and_kill9(&mut self, after: Duration) {
        let (mut child, _) = self.spawn(Stdio::piped());
        let until = Instant::now() + after;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            thread::park_timeout(left);
        }
        child.kill().expect("SIGKILL");
        child.wait().expect("a child");
    }

    fn begin_logging_to(&mut self, log: Stdio) {
        if let Err(status) = self.launch(log) {
            panic!("serve ended ({status:?}):\n{}", self.log.tail(40));
        }
    }

    fn spawn(&mut self, log: Stdio) -> (Child, Receiver<String>) {
        assert!(self.life.is_none(), "it runs already");
        let mut serve = self.home.serve();
        let mut child = serve.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn().expect("serve starts");
        if let Some(stderr) = child.stderr.take() {
            self.log.follow(stderr);
        }
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let (say, hear) = channel();
        let log = self.log.clone();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                log.push(line.clone());
                let _ = say.send(line);
            }
        });
        (child, hear)
    }

    fn launch(&mut self, log: Stdio) -> Result<(), ExitStatus> {
        let (mut child, hear) = self.spawn(log);
        let ready = match hear.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => return Err(child.wait().expect("a child")),
            Err(RecvTimeoutError::Timeout) => {
                let _ = child.kill();
                panic!("serve was not ready in time ({:?}):\n{}", child.wait(), self.log.tail(40));
            }
        };
        let (public, admin) = addresses(&ready).unwrap_or_else(|| panic!("no ready line: {ready}"));
        self.life = Some(Life { child, public, admin });
        Ok(())
    }

    /// Ends the process as a power cut would, between any two instructions.
    pub(crate) fn kill9(&mut self) {
        let mut life = self.life.take().expect("it runs");
        life.child.kill().expect("SIGKILL");
        life.child.wait().expect("a child");
    }

    /// kill -9, then another life.
    pub(crate) fn kill9_and_restart(&mut self) {
        self.kill9();
        self.begin();
    }

    /// A polite stop; answers the exit status.
    pub(crate) fn stop(&mut self) -> i32 {
        self.signal(Signal::TERM);
        self.wait_end().code().unwrap_or(-1)
    }

    /// A polite stop, then another life.
    pub(crate) fn restart(&mut self) {
        assert_eq!(self.stop(), 0, "{}", self.log());
        self.begin();
    }

    /// Sends a signal to the gateway's own process.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw).expect("a process id");
        kill_process(pid, signal).expect("the gateway gets the signal");
    }

    /// Sets a limit of the gateway's process from outside, `None` for as much as it may have; answers the one before.
    pub(crate) fn limit(&self, resource: Resource, current: Option<u64>) -> Option<u64> {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw);
        // It has inherited the test's own.
        let maximum = getrlimit(resource).maximum;
        prlimit(pid, resource, Rlimit { current: current.or(maximum), maximum }).expect("the limit is set").current
    }

    /// Sets how many processes and threads the gateway's user may have, `None` for as many as it may.
    pub(crate) fn limit_processes(&self, current: Option<u64>) {
        let maximum = getrlimit(Resource::Nproc).maximum;
        let word = |limit: Option<u64>| limit.map_or("unlimited".to_owned(), |limit| limit.to_string());
        let limits = format!("--nproc={}:{}", word(current.or(maximum)), word(maximum));
        // As its user: a root that lives in a container may set limits of its own processes only.
        let mut prlimit = self.home.as_its_user("prlimit");
        let set = prlimit.args(["--pid", &self.pid().to_string(), &limits]).output().expect("prlimit of util-linux");
        assert!(set.status.success(), "{}", String::from_utf8_lossy(&set.stderr));
    }

    /// How many lines of the log hold this text.
    pub(crate) fn said(&self, text: &str) -> usize {
        self.log().lines().filter(|line| line.contains(text)).count()
    }

    /// Waits until the process has ended by itself.
    pub(crate) fn wait_end(&mut self) -> ExitStatus {
        let mut life = self.life.take().expect("it runs");
        until_some("the gateway ends", || life.child.try_wait().expect("a child"))
    }

    /// Whether no life of it is going on.
    pub(crate) fn is_dead(&self) -> bool {
        self.life.is_none()
    }

    /// How the process has ended by itself, when it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.life.as_mut().expect("it runs").child.try_wait().expect("a child")?;
        self.life = None;
        Some(status)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.life().child.id()
    }

    /// Time of the processor that the gateway's own process has used.
    pub(crate) fn cpu(&self) -> Duration {
        super::process::cpu(self.pid())
    }

    fn life(&self) -> &Life {
        self.life.as_ref().expect("it runs")
    }

    /// The public address.
    pub(crate) fn address(&self) -> SocketAddr {
        self.life().public
    }

    /// The admin address.
    pub(crate) fn admin_address(&self) -> SocketAddr {
        self.life().admin
    }

    pub(crate) fn home(&self) -> &Home {
        &self.home
    }

    /// Changes the configuration and writes it; nothing reads it yet.
    pub(crate) fn rewrite(&mut self, change: impl FnOnce(Home) -> Home) {
        let home = std::mem::replace(&mut self.home, Home::new());
        self.home = change(home);
        self.home.write();
    }

    /// Runs a command on this home.
    pub(crate) fn cli(&self, args: &[&str]) -> Output {
        self.home.cli(args)
    }

    /// Everything that was logged so far, in all lives.
    pub(crate) fn log(&self) -> String {
        self.log.text()
    }

    /// Waits until the log holds this text.
    pub(crate) fn wait_log(&self, text: &str) {
        super::until(&format!("the log says {text}"), || self.log().contains(text));
    }

    /// A request to the public address, headers and body as they are given.
    pub(crate) fn http(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let headers: Vec<_> = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        http::exchange(self.address(), method, path, &headers, body).expect("the gateway answers")
    }

    /// A POST to the public address.
    pub(crate) fn post(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.http("POST", path, headers, body)
    }

    /// A connection to the public address.
    pub(crate) fn connect(&self) -> std::net::TcpStream {
        http::connect(self.address()).expect("a connection")
    }

    /// A request to the admin API, with the token that the gateway made.
    pub(crate) fn admin(&self, method: &str, path: &str) -> Answer {
        let token = fs::read_to_string(self.home.join("admin.token")).expect("a token");
        let headers = [("Authorization".to_owned(), format!("Bearer {}", token.trim()))];
        http::exchange(self.admin_address(), method, path, &headers, b"").expect("the admin API answers")
    }

    /// A JSON document of the admin API.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Value {
        self.admin("GET", &format!("/api/v1{path}")).expect(200)
    }

    /// The rows of a listing, all pages of it.
    #[track_caller]
    pub(crate) fn list(&self, path: &str) -> Vec<Value> {
        let mut rows = Vec::new();
        let mut next = path.to_owned();
        loop {
            let page = self.get(&next);
            rows.extend(page["items"].as_array().expect("items").iter().cloned());
            let Some(cursor) = page["next"].as_str() else { return rows };
            next = format!("{path}{}cursor={cursor}", if path.contains('?') { '&' } else { '?' });
        }
    }

    pub(crate) fn event(&self, id: &str) -> Value {
        self.get(&format!("/events/{id}"))
    }

    /// The runs of an event, oldest first, each as a whole.
    pub(crate) fn runs(&self, event: &str) -> Vec<Value> {
        self.each(&self.event(event)["runs"], "runs")
    }

    /// The deliveries of an event, oldest first, each as a whole.
    pub(crate) fn deliveries(&self, event: &str) -> Vec<Value> {
        self.each(&self.event(event)["deliveries"], "deliveries")
    }

    fn each(&self, ids: &Value, noun: &str) -> Vec<Value> {
        let ids = ids.as_array().expect("a list of ids");
        ids.iter().map(|id| self.get(&format!("/{noun}/{}", id.as_str().expect("an id")))).collect()
    }

    /// Waits until an event is in a state; answers it.
    #[track_caller]
    pub(crate) fn wait_event(&self, id: &str, state: &str) -> Value {
        let mut last = Value::Null;
        let event = found(|| {
            last = self.event(id);
            (last["state"] == state).then(|| last.clone())
        });
        event.unwrap_or_else(|| panic!("{id} is not {state} but {last:#}"))
    }

    /// Waits until every delivery of an event has come to an end; answers them.
    pub(crate) fn settled(&self, event: &str) -> Vec<Value> {
        let open = |delivery: &Value| matches!(delivery["state"].as_str(), Some("pending" | "sending" | "failed"));
        until_some(&format!("the deliveries of {event} have ended"), || {
            let all = self.deliveries(event);
            (!all.is_empty() && !all.iter().any(open)).then_some(all)
        })
    }
}

/// The two addresses of the ready line.
fn addresses(line: &str) -> Option<(SocketAddr, SocketAddr)> {
    let rest = line.strip_prefix("doorbell is ready: webhooks on ")?;
    let (public, admin) = rest.split_once(", admin on ")?;
    let address = |url: &str| url.trim().split_once("://")?.1.parse().ok();
    Some((address(public)?, address(admin)?))
}

impl Drop for Doorbell {
    fn drop(&mut self) {
        if let Some(mut life) = self.life.take() {
            let _ = life.child.kill();
            let _ = life.child.wait();
        }
        if thread::panicking() {
            eprintln!("--- the gateway's last lines\n{}\n---", self.log.tail(80));
        }
    }
}
