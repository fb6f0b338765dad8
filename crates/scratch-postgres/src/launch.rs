//! Starting and stopping the server.
#![expect(
    clippy::disallowed_methods,
    reason = "the rule about processes is for the product; this crate is for its tests"
)]

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

/// Debian's `nobody`; root hands the cluster to it.
const NOBODY: u32 = 65534;

/// How long a server may take to stop, at once as it is asked to.
const STOPPED: Duration = Duration::from_secs(10);
/// How long one that has started may take to answer.
const STARTED: Duration = Duration::from_secs(10);

/// Stops the cluster when nobody has used it for a while. `$1` is the folder, `$2` what is removed then. It keeps the lock of
/// `watching` for as long as it runs, so that there is one of it. A server that is ending still answers, and writes into its folder:
/// it is waited for. A folder that has gone was removed by its owner.
const WATCH: &str = r#"
exec 7>"$1/watching"
flock --nonblock --exclusive 7 || exit 0
stop() {
    [ -f "$2" ] || return 0
    pid=$(head -n 1 "$2")
    kill "-$3" "$pid" 2>/dev/null || return 0
    for _ in $(seq 200); do
        grep -qs "$1/run" "/proc/$pid/cmdline" || return 0
        sleep 0.05
    done
}
idle=0
while :; do
    sleep 5
    [ -d "$1" ] || exit 0
    if flock --nonblock --exclusive "$1/in-use" true; then idle=$((idle + 1)); else idle=0; fi
    [ "$idle" -ge 6 ] || continue
    exec 8>"$1/starting"
    flock --exclusive 8
    if flock --nonblock --exclusive "$1/in-use" true; then
        stop "$1" "$1/run/bouncer.pid" TERM
        stop "$1" "$1/run/data/postmaster.pid" QUIT
        rm -rf "$2"
        exit 0
    fi
    idle=0
    exec 8>&-
done
"#;

/// Where a cluster listens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ports {
    pub(crate) server: u16,
    pub(crate) bouncer: Option<u16>,
}

/// The ports of a cluster that runs already.
pub(crate) fn running(folder: &Path) -> Option<Ports> {
    let text = fs::read_to_string(folder.join("run/ports")).ok()?;
    let mut numbers = text.split_whitespace();
    let server: u16 = numbers.next()?.parse().ok()?;
    let bouncer = numbers.next().and_then(|port| port.parse().ok());
    (answers(server) && bouncer.is_none_or(answers)).then_some(Ports { server, bouncer })
}

fn answers(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

/// What a test's server need not do: the machine does not lose its power.
pub(crate) const CARELESS: &str =
    "fsync = off\nfull_page_writes = off\nmax_wal_size = 256MB\nshared_buffers = 64MB\nautovacuum_naptime = 5\n";

/// Starts a cluster from nothing. Called under the lock of `starting`.
pub(crate) fn start(folder: &Path) -> Ports {
    let server = start_server(folder, CARELESS);
    let run = folder.join("run");
    let bouncer = bouncer(&run, server);
    let second = bouncer.map_or(String::new(), |port| format!(" {port}"));
    fs::write(run.join("ports"), format!("{server}{second}\n")).expect("the ports");
    Ports { server, bouncer }
}

/// Starts a server in `run` below a folder, with `more` settings; answers its port.
pub(crate) fn start_server(folder: &Path, more: &str) -> u16 {
    let run = folder.join("run");
    stop_what_is_left(&run);
    let _ = fs::remove_dir_all(&run);
    fs::create_dir(&run).expect("a folder for the cluster");
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).expect("rights of the folder");
    let binaries = binaries();
    let data = run.join("data");
    certificate(&run);
    hand_over(&run);
    let initdb = unprivileged(&binaries.join("initdb"))
        .args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"])
        .arg(&data)
        .output()
        .expect("initdb runs");
    assert!(initdb.status.success(), "initdb: {}", String::from_utf8_lossy(&initdb.stderr));
    let config = data.join("postgresql.conf");
    let before = fs::read_to_string(&config).expect("the configuration of initdb");
    on_a_free_port("PostgreSQL", &run.join("log"), |server| {
        let text = before.clone() + &settings(&run, server, more);
        fs::write(&config, text).expect("a configuration");
        let mut command = unprivileged(&binaries.join("pg_ctl"));
        command.args(["--wait", "--timeout=60", "-D"]).arg(&data).arg("-l").arg(run.join("log")).arg("start");
        command
    })
}

/// Stops the server of a folder, in a mode of `pg_ctl`.
pub(crate) fn stop_server(folder: &Path, mode: &str) {
    let stopped =
        control(folder).args(["stop", "--wait", "--timeout=60", "--mode", mode]).output().expect("pg_ctl runs");
    assert!(stopped.status.success(), "PostgreSQL did not stop: {}", String::from_utf8_lossy(&stopped.stderr));
}

/// Starts the server of a folder once more, where it was before. Somebody may have the port for a moment.
pub(crate) fn start_server_again(folder: &Path) {
    let log = folder.join("run/log");
    let until = Instant::now() + STARTED;
    loop {
        let mut start = control(folder);
        start.args(["start", "--wait", "--timeout=60", "-l"]).arg(&log).stdout(Stdio::null()).stderr(Stdio::null());
        if start.status().is_ok_and(|status| status.success()) {
            return;
        }
        assert!(Instant::now() < until, "PostgreSQL did not start: {}", fs::read_to_string(&log).unwrap_or_default());
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn control(folder: &Path) -> Command {
    let mut command = unprivileged(&binaries().join("pg_ctl"));
    command.arg("-D").arg(folder.join("run/data"));
    command
}

fn settings(run: &Path, server: u16, more: &str) -> String {
    format!(
        "listen_addresses = '127.0.0.1'\nport = {server}\nunix_socket_directories = '{run}'\nmax_connections = 300\n{more}\
         ssl = on\nssl_cert_file = '{run}/server.crt'\nssl_key_file = '{run}/server.key'\nlogging_collector = off\n",
        run = run.display()
    )
}

/// Starts something that goes into the background, on a port that was free a moment ago; somebody else may take it until then, so
/// that another one is tried. Answers the port.
fn on_a_free_port(name: &str, log: &Path, mut command: impl FnMut(u16) -> Command) -> u16 {
    for _ in 0..3 {
        let port = free_port();
        let started = command(port).stdout(Stdio::null()).stderr(Stdio::null()).status();
        if started.is_ok_and(|status| status.success()) && answers_soon(port) {
            return port;
        }
    }
    panic!("{name} did not start: {}", fs::read_to_string(log).unwrap_or_default())
}

/// PgBouncer goes into the background before it listens; whoever looked meanwhile would take the cluster for a dead one, and start it
/// anew under those who use it.
fn answers_soon(port: u16) -> bool {
    let until = Instant::now() + STARTED;
    while Instant::now() < until {
        if answers(port) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

/// Starts PgBouncer in transaction mode where it is installed.
fn bouncer(run: &Path, server: u16) -> Option<u16> {
    let binary = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].into_iter().map(PathBuf::from).find(|p| p.exists())?;
    let config = run.join("pgbouncer.ini");
    let users = run.join("users");
    fs::write(&users, "\"postgres\" \"\"\n").expect("the users of PgBouncer");
    let text = |port| {
        format!(
            "[databases]\n* = host=127.0.0.1 port={server} user=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
         listen_port = {port}\nunix_socket_dir =\nauth_type = trust\nauth_file = {users}\npool_mode = transaction\n\
         max_client_conn = 500\ndefault_pool_size = 10\nserver_idle_timeout = 2\nlogfile = {run}/bouncer.log\n\
         pidfile = {run}/bouncer.pid\n",
            users = users.display(),
            run = run.display()
        )
    };
    Some(on_a_free_port("PgBouncer", &run.join("bouncer.log"), |port| {
        fs::write(&config, text(port)).expect("the configuration of PgBouncer");
        for file in [&config, &users] {
            fs::set_permissions(file, fs::Permissions::from_mode(0o644)).expect("rights");
        }
        let mut command = unprivileged(&binary);
        command.args(["--daemon", "--quiet"]).arg(&config);
        command
    }))
}

/// Makes sure that somebody stops the cluster, and removes `leftover`, when it is no longer used.
pub(crate) fn watch(folder: &Path, leftover: &Path) {
    let file = fs::File::options().create(true).truncate(false).write(true).open(folder.join("watching"));
    let file = file.expect("a lock file");
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return;
    }
    // It takes the lock itself; two that start at once settle it between them.
    drop(file);
    Command::new("setsid")
        .args(["--fork", "sh", "-c", WATCH, "watch"])
        .args([folder, leftover])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .current_dir("/")
        .status()
        .expect("setsid and sh, which every Debian has");
}

/// A server of an earlier run whose watch script was killed.
pub(crate) fn stop_what_is_left(run: &Path) {
    for (file, signal) in
        [("data/postmaster.pid", rustix::process::Signal::QUIT), ("bouncer.pid", rustix::process::Signal::TERM)]
    {
        let pid = fs::read_to_string(run.join(file)).ok();
        let pid =
            pid.and_then(|text| text.lines().next()?.trim().parse().ok()).and_then(rustix::process::Pid::from_raw);
        let Some(pid) = pid else { continue };
        // A number may have been given to somebody else since.
        let is_ours = || {
            let command = fs::read_to_string(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
            command.contains(&*run.to_string_lossy())
        };
        if is_ours() {
            let _ = rustix::process::kill_process(pid, signal);
        }
        let until = Instant::now() + STOPPED;
        while is_ours() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn binaries() -> PathBuf {
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .filter(|(_, folder): &(u32, PathBuf)| folder.join("initdb").exists())
        .collect();
    versions.sort();
    versions.pop().expect("install the Debian package postgresql; scripts/test.sh does").1
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn unprivileged(binary: &Path) -> Command {
    let mut command = Command::new(binary);
    command.stdin(Stdio::null()).current_dir("/");
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn hand_over(run: &Path) {
    if is_root() {
        for path in [run.to_owned(), run.join("server.key"), run.join("server.crt")] {
            chown(path, Some(NOBODY), Some(NOBODY)).expect("the folder changes its owner");
        }
    }
}

fn certificate(run: &Path) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    fs::write(run.join("server.crt"), made.cert.pem()).expect("the certificate");
    let key = run.join("server.key");
    fs::write(&key, made.signing_key.serialize_pem()).expect("its key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("rights of the key");
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port()
}
