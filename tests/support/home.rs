//! A home folder with its configuration, and the commands that work on it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use scratch_postgres::Database;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::process::command;
use super::{Agent, Doorbell, until_some};

/// The secret of every route that has none of its own.
pub(crate) const SECRET: &str = "story-secret-not-real";

/// A user without privileges.
const NOBODY: u32 = 65534;

/// A home. Built up key by key, or with a text of its own.
pub(crate) struct Home {
    folder: TempDir,
    config: Value,
    env: Vec<(String, String)>,
    args: Vec<String>,
    nobody: Option<fs::File>,
    limit: Option<&'static str>,
    /// Where its ledger is, when that is no file of the home.
    _database: Option<Database>,
}

/// Whether homes have their ledgers in PostgreSQL. Stories that are about more than files are told on both stores: `DOORBELL_TEST_STORE=postgres`
/// says so, and `scripts/test.sh` runs them once more with it.
fn on_postgres() -> bool {
    match std::env::var("DOORBELL_TEST_STORE").as_deref() {
        Ok("postgres") => true,
        Ok("sqlite") | Err(_) => false,
        Ok(other) => panic!("DOORBELL_TEST_STORE is {other}; it is sqlite or postgres"),
    }
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    /// stdout, when the command succeeded.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.status, 0, "{self:?}");
        self.stdout
    }

    /// stdout as JSON, when the command succeeded.
    #[track_caller]
    pub(crate) fn json(self) -> Value {
        let text = self.ok();
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// stderr, when the command failed with this status, said why there, and did not panic.
    #[track_caller]
    pub(crate) fn fails(self, status: i32) -> String {
        assert_eq!(self.status, status, "{self:?}");
        assert!(!self.stderr.trim().is_empty() && !self.stderr.contains("panicked"), "{self:?}");
        self.stderr
    }
}

impl Home {
    /// A home with ports of the system's choice and no routes.
    pub(crate) fn new() -> Home {
        Home::under(&std::env::temp_dir())
    }

    /// The same in another folder than that for temporary files.
    pub(crate) fn under(parent: &Path) -> Home {
        let database = on_postgres().then(Database::create);
        let config = json!({
            "store": {"url": database.as_ref().map(Database::url)},
            "server": {"host": "127.0.0.1", "port": 0, "secret": SECRET},
            "admin": {"host": "127.0.0.1", "port": 0},
            "agents": {}, "routes": {}, "targets": {},
        });
        let folder = tempfile::Builder::new().prefix("doorbell-").tempdir_in(parent).expect("a temporary folder");
        Home { folder, config, env: Vec::new(), args: Vec::new(), nobody: None, limit: None, _database: database }
    }

    /// A home with a route `r` whose prompt is `{n}` and the agent that answers it.
    pub(crate) fn with(agent: &Agent) -> Home {
        Home::new().agent("default", agent.options()).route("r", json!({"prompt": "{n}"}))
    }

    /// Sets keys of a section, beside those that are there.
    pub(crate) fn set(mut self, section: &str, keys: Value) -> Home {
        let Value::Object(keys) = keys else { panic!("a section is a mapping") };
        let old = self.config.as_object_mut().expect("a mapping").entry(section).or_insert_with(|| json!({}));
        old.as_object_mut().expect("a mapping").extend(keys);
        self
    }

    pub(crate) fn server(self, keys: Value) -> Home {
        self.set("server", keys)
    }

    pub(crate) fn agent(self, name: &str, options: Value) -> Home {
        self.set("agents", json!({name: options}))
    }

    pub(crate) fn route(self, name: &str, keys: Value) -> Home {
        self.set("routes", json!({name: keys}))
    }

    /// Takes a route away.
    pub(crate) fn without_route(mut self, name: &str) -> Home {
        self.config["routes"].as_object_mut().expect("a mapping").remove(name);
        self
    }

    pub(crate) fn target(self, name: &str, keys: Value) -> Home {
        self.set("targets", json!({name: keys}))
    }

    /// A variable in the environment of the gateway and of the commands.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Home {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Arguments behind `serve`.
    pub(crate) fn args(mut self, args: &[&str]) -> Home {
        self.args.extend(args.iter().map(|arg| (*arg).to_owned()));
        self
    }

    /// Lets the gateway begin under a limit, an option of `prlimit` from util-linux.
    pub(crate) fn limited(mut self, limit: &'static str) -> Home {
        self.limit = Some(limit);
        self
    }

    /// Lets a user without privileges run everything, where the test itself has them: limits and rights are not for root.
    /// The gateway gets the agent's folder too.
    pub(crate) fn run_by_nobody(mut self, agent: &Agent) -> Home {
        if rustix::process::geteuid().is_root() {
            for folder in [self.path(), agent.path(), &agent.path().join("runs")] {
                chown(folder, Some(NOBODY), Some(NOBODY)).expect("the folder is given away");
            }
            // Reached by its number: the build folder may be closed to others.
            self.nobody = Some(fs::File::open(env!("CARGO_BIN_EXE_doorbell")).expect("the binary"));
        }
        self
    }

    /// Writes a file of the home.
    pub(crate) fn file(self, name: &str, text: &str) -> Home {
        fs::write(self.path().join(name), text).expect("the file is written");
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes `config.yaml` (JSON is YAML), unless the test wrote one itself.
    pub(crate) fn write(&self) {
        fs::write(self.path().join("config.yaml"), format!("{:#}", self.config)).expect("config.yaml is written");
    }

    /// Starts the gateway.
    pub(crate) fn start(self) -> Doorbell {
        self.write();
        Doorbell::start(self)
    }

    /// The gateway of a home that is written, before its first life.
    pub(crate) fn not_started(self) -> Doorbell {
        Doorbell::dead(self)
    }

    /// Starts the gateway with its log going to `log`.
    pub(crate) fn start_logging_to(self, log: Stdio) -> Doorbell {
        self.write();
        Doorbell::start_logging_to(self, log)
    }

    /// Starts the gateway on a `config.yaml` that the test wrote.
    pub(crate) fn start_as_written(self) -> Doorbell {
        Doorbell::start(self)
    }

    /// `doorbell` with the home's environment and nothing of the test's own but what a shell needs.
    pub(super) fn doorbell(&self, args: &[&str]) -> Command {
        let mut doorbell = match &self.nobody {
            None if self.limit.is_some() => {
                let mut prlimit = command("prlimit");
                prlimit.args(self.limit).arg(env!("CARGO_BIN_EXE_doorbell"));
                prlimit
            }
            None => command(env!("CARGO_BIN_EXE_doorbell")),
            Some(binary) => {
                let mut doorbell = command(&format!("/proc/self/fd/{}", binary.as_raw_fd()));
                doorbell.uid(NOBODY).gid(NOBODY);
                doorbell
            }
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        doorbell.args(args).env_clear().env("PATH", path).env("HOME", self.path()).env("DOORBELL_HOME", self.path());
        doorbell.envs(self.env.iter().map(|(name, value)| (name, value))).current_dir(self.path());
        doorbell
    }

    /// A program as the user that runs the gateway.
    pub(super) fn as_its_user(&self, program: &str) -> Command {
        let mut program = command(program);
        if self.nobody.is_some() {
            program.uid(NOBODY).gid(NOBODY);
        }
        program
    }

    pub(super) fn serve(&self) -> Command {
        let args: Vec<&str> = ["serve"].into_iter().chain(self.args.iter().map(String::as_str)).collect();
        self.doorbell(&args)
    }

    /// Runs a command to its end.
    pub(crate) fn cli(&self, args: &[&str]) -> Output {
        self.cli_with(args, &[], b"")
    }

    /// Runs a command with further variables and an input.
    pub(crate) fn cli_with(&self, args: &[&str], env: &[(&str, &str)], input: &[u8]) -> Output {
        let mut doorbell = self.doorbell(args);
        doorbell.envs(env.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = doorbell.spawn().expect("doorbell starts");
        collect(child, input, args)
    }

    /// A path in the home, as text.
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// The JSON lines of a file in the home; none when there is no such file.
    pub(crate) fn lines(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.join(name)).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
    }
}

fn collect(mut child: Child, input: &[u8], args: &[&str]) -> Output {
    let mut stdin = child.stdin.take().expect("a pipe");
    // A command that does not read its input is no fault.
    let _ = stdin.write_all(input);
    drop(stdin);
    let (mut out, mut err) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
    let read = thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).map(|_| text)
    });
    let read_err = thread::spawn(move || {
        let mut text = String::new();
        err.read_to_string(&mut text).map(|_| text)
    });
    let status = until_some(&format!("`doorbell {}` ends", args.join(" ")), || child.try_wait().expect("a child"));
    let text = |read: thread::JoinHandle<std::io::Result<String>>| read.join().expect("a reader").expect("UTF-8");
    Output { status: status.code().unwrap_or(-1), stdout: text(read), stderr: text(read_err) }
}
