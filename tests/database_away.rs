//! A PostgreSQL that goes away and comes back while a gateway works: nothing that was acknowledged is lost, nothing is done twice,
//! senders are told to come again at once, and the log says it once.

mod support;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use scratch_postgres::{Cluster, Database};
use support::*;

/// What the log says once when the database has gone, and once when it is back.
const BEGINS: &str = "the ledger did not take it";
const ENDS: &str = "the ledger can be written again";
/// A sender is told within so long. One that waits for a connection that does not answer is told last.
const TOLD: Duration = Duration::from_secs(8);

/// A gateway whose way to its database can be blocked. The database is emptied and lent again after the gateway has gone.
struct Scene {
    bell: Doorbell,
    proxy: Proxy,
    database: Database,
}

impl Scene {
    fn begin(agent: &Agent, more: impl FnOnce(Home) -> Home) -> Scene {
        let (database, proxy) = (Database::create(), Proxy::before(Cluster::shared().port));
        let home = Home::with(agent).set("store", json!({"url": proxy.url(&database.url())}));
        Scene { bell: more(home).start(), proxy, database }
    }

    /// With a way that is not encrypted.
    fn begin_plain(agent: &Agent, more: impl FnOnce(Home) -> Home) -> Scene {
        let (database, proxy) = (Database::create(), Proxy::before(Cluster::shared().port));
        let url = format!("{}?sslmode=disable", proxy.url(&database.url()));
        Scene { bell: more(Home::with(agent).set("store", json!({"url": url}))).start(), proxy, database }
    }

    /// What the database itself has.
    fn count(&self, what: &str) -> usize {
        self.database.run(&format!("SELECT count(*) FROM doorbell.{what}"))[0].parse().expect("a number")
    }

    fn said(&self) -> (usize, usize) {
        (self.bell.said(BEGINS), self.bell.said(ENDS))
    }
}

/// Rings and wants to be told to come again, in time.
#[track_caller]
fn refused(bell: &Doorbell, id: &str, n: u32) {
    let began = Instant::now();
    let answer = bell.ring("r").id(id).json(&json!({"n": n})).post();
    answer.expect(503);
    assert!(answer.header("retry-after").is_some(), "{answer:?}");
    assert!(began.elapsed() < TOLD, "told after {:?}", began.elapsed());
}

/// The database is away while an agent works and senders come; then it is back.
fn away(goes: impl FnOnce(&Proxy)) {
    let agent = Agent::gated();
    let on = Scene::begin(&agent, |home| home);
    let bell = &on.bell;
    let running = bell.send("r", &json!({"n": 1}));
    let first = agent.wait_runs(1).remove(0);
    goes(&on.proxy);
    refused(bell, "again", 2);
    assert_eq!(bell.admin("GET", "/readyz").status, 503);
    // Answered before the database is back; kept in memory until then.
    agent.open();
    until("the agent has ended", || !alive(first.pid));
    let cpu = bell.cpu();
    let (tries, began) = (on.proxy.tries(), Instant::now());
    for n in 0..20 {
        refused(bell, &format!("refused-{n}"), 3);
    }
    until_in(Duration::from_secs(10), "some time has passed", || began.elapsed() > Duration::from_secs(5));
    let tries = on.proxy.tries() - tries;
    assert!(tries < 16, "{tries} connections were tried in {:?}", began.elapsed());
    let used = bell.cpu().saturating_sub(cpu);
    assert!(used < began.elapsed() / 4, "{used:?} of the processor in {:?}", began.elapsed());
    assert_eq!(on.count("runs WHERE state = 'running'"), 1, "its end is not on record yet");
    on.proxy.opens();
    until("it is ready", || bell.admin("GET", "/readyz").status == 200);
    bell.wait_event(&running, "succeeded");
    assert_eq!(bell.runs(&running)[0]["answer"], "answer to: 1");
    let told = bell.settled(&running);
    assert_eq!((told.len(), &told[0]["state"]), (1, &json!("delivered")));
    assert_eq!(bell.said("outcome=\"delivered\""), 1, "{}", bell.log());
    // Sent again with the same id it is one event, whether the first one came through late or not.
    let ring = bell.ring("r").id("again").json(&json!({"n": 2}));
    let event = ring.until_taken();
    bell.wait_event(&event, "succeeded");
    assert_eq!(ring.duplicate(), event);
    assert_eq!(on.count("events WHERE delivery_id = 'again'"), 1);
    assert_eq!(
        agent.prompts().iter().filter(|prompt| *prompt == "1").count(),
        1,
        "what was paid for is not bought again"
    );
    bell.wait_log(ENDS);
    assert_eq!(on.said(), (1, 1), "{}", bell.log());
    assert!(!bell.log().contains("Connection error"), "{}", bell.log());
}

#[test]
fn a_database_that_refuses() {
    away(Proxy::refuses);
}

#[test]
fn a_database_that_is_silent() {
    away(Proxy::falls_silent);
}

fn taken(bell: &Doorbell, key: &str) -> String {
    bell.ring("r").id(key).json(&json!({"n": key})).until_taken()
}

#[test]
fn connections_that_are_cut_again_and_again_under_load_lose_and_double_nothing() {
    const SENDERS: usize = 16;
    const EACH: usize = 12;
    let agent = Agent::new();
    let options = json!({"max_concurrent": 4});
    let on = Scene::begin(&agent, |home| home.agent("default", agent.options_with(options)));
    let over = AtomicBool::new(false);
    let events: BTreeSet<String> = thread::scope(|scope| {
        let all: Vec<_> = (0..SENDERS)
            .map(|sender| {
                scope.spawn({
                    let bell = &on.bell;
                    move || (0..EACH).map(|n| taken(bell, &format!("{sender}-{n}"))).collect::<Vec<_>>()
                })
            })
            .collect();
        let cutter = scope.spawn(|| {
            let mut last = 0;
            while !over.load(Ordering::Relaxed) {
                // Each time in the middle of something: when so many bytes more have passed.
                until("something passes", || on.proxy.passed() > last + 20_000 || over.load(Ordering::Relaxed));
                on.proxy.cuts();
                last = on.proxy.passed();
            }
        });
        let events = all.into_iter().flat_map(|sender| sender.join().expect("a sender")).collect();
        over.store(true, Ordering::Relaxed);
        cutter.join().expect("the cutter");
        events
    });
    assert_eq!(events.len(), SENDERS * EACH);
    until("it is ready", || on.bell.admin("GET", "/readyz").status == 200);
    for event in &events {
        on.bell.wait_event(event, "succeeded");
    }
    assert_eq!(on.count("events"), SENDERS * EACH, "none is lost, none is there twice");
    assert_eq!(on.count("runs WHERE state = 'succeeded'"), SENDERS * EACH, "one success each");
    assert_eq!(on.count("runs WHERE state = 'running'"), 0);
    let mut prompts = agent.prompts();
    prompts.sort();
    prompts.dedup();
    assert_eq!(prompts.len(), agent.runs().len(), "no agent has worked on one twice");
    until("all is delivered", || on.count("deliveries WHERE state <> 'delivered'") == 0);
    assert_eq!(on.bell.said("came too late"), 0, "{}", on.bell.log());
}

/// Everything is stored, and nobody is told.
#[test]
fn answers_that_are_lost_on_the_way_lose_and_double_nothing() {
    let agent = Agent::failing(1, 1);
    let receiver = Receiver::answering(vec![Reply::status(503), Reply::status(200)]);
    let target = json!({"type": "webhook", "url": receiver.url(), "retry_backoff": "3s"});
    let route = json!({"prompt": "{n}", "max_retries": 3, "retry_backoff": "3s", "deliver": "hook"});
    let on = Scene::begin_plain(&agent, |home| home.target("hook", target).route("r", route));
    let event = on.bell.send("r", &json!({"n": 1}));
    on.bell.wait_event(&event, "failed");
    on.proxy.forgets_answers();
    // Its retry is due: the claim is on record, and the gateway does not know.
    until("it is claimed", || on.count("runs WHERE state = 'running'") == 1);
    assert_eq!(agent.runs().len(), 1);
    on.proxy.opens();
    agent.wait_runs(2);
    receiver.wait(1);
    // Its answer is due once more, in the same way.
    until("it failed", || on.count("deliveries WHERE state = 'failed'") == 1);
    on.proxy.forgets_answers();
    until("it is claimed", || on.count("deliveries WHERE state = 'sending'") == 1);
    assert_eq!(receiver.seen().len(), 1);
    on.proxy.opens();
    receiver.wait(2);
    until("it is ready", || on.bell.admin("GET", "/readyz").status == 200);
    on.bell.wait_event(&event, "succeeded");
    assert_eq!(on.bell.settled(&event)[0]["state"], "delivered");
    assert_eq!((agent.runs().len(), receiver.seen().len()), (2, 2), "once for each time that it was begun");
}

#[test]
fn results_whose_answers_are_lost_are_recorded_once() {
    let agent = Agent::gated();
    let on = Scene::begin_plain(&agent, |home| home);
    let event = on.bell.send("r", &json!({"n": 1}));
    agent.wait_runs(1);
    on.proxy.forgets_answers();
    agent.open();
    until("its end is on record", || on.count("runs WHERE state = 'succeeded'") == 1);
    let ring = on.bell.ring("r").id("once").json(&json!({"n": 2}));
    // The first ones may be refused without a try.
    until("it is there, and nobody knows", || {
        ring.post().expect(503);
        on.count("events WHERE delivery_id = 'once'") == 1
    });
    on.proxy.opens();
    until("it is known", || ring.post().status == 200);
    on.bell.wait_event(&ring.duplicate(), "succeeded");
    assert_eq!(on.bell.settled(&event).len(), 1);
    until("both have ended", || on.bell.said("event_state=\"succeeded\"") == 2);
    assert_eq!((agent.runs().len(), on.bell.said("came too late")), (2, 0), "{}", on.bell.log());
}

#[test]
fn a_polite_stop_ends_in_bounded_time_while_the_database_is_silent() {
    let agent = Agent::gated();
    let mut on = Scene::begin(&agent, |home| home.server(json!({"shutdown_grace": "1s"})));
    let event = on.bell.send("r", &json!({"n": 1}));
    let first = agent.wait_runs(1).remove(0);
    on.proxy.falls_silent();
    let began = Instant::now();
    on.bell.signal(rustix::process::Signal::TERM);
    until_in(Duration::from_mins(1), "it has ended", || on.bell.ended().is_some());
    assert!(began.elapsed() < Duration::from_secs(45), "{:?}", began.elapsed());
    assert!(!alive(first.pid));
    on.proxy.opens();
    on.bell.begin();
    agent.open();
    on.bell.wait_event(&event, "succeeded");
}

#[test]
fn a_start_waits_a_while_for_a_database_that_is_away() {
    let (database, proxy, agent) = (Database::create(), Proxy::before(Cluster::shared().port), Agent::new());
    proxy.refuses();
    let url = proxy.url(&database.url()).replace("postgres@", "postgres:not-for-logs@");
    let home = Home::with(&agent).set("store", json!({"url": url}));
    home.write();
    let began = Instant::now();
    let error = home.cli(&["serve"]).fails(1);
    let took = began.elapsed();
    assert!((Duration::from_secs(9)..Duration::from_secs(25)).contains(&took), "{took:?}");
    assert!(error.contains("cannot be reached") && error.contains("is it running"), "{error}");
    assert!(!error.contains("not-for-logs"), "{error}");
    // It comes in time.
    let bell = thread::scope(|scope| {
        let starting = scope.spawn(|| home.start());
        let tries = proxy.tries();
        until("it tries", || proxy.tries() > tries + 1);
        proxy.opens();
        starting.join().expect("it starts")
    });
    bell.wait_event(&bell.send("r", &json!({"n": 1})), "succeeded");
    assert_eq!(bell.said("no ledger at"), 1, "{}", bell.log());
    assert!(!bell.log().contains("not-for-logs"), "{}", bell.log());
}

/// A start on this URL fails at once; answers what it says, which does not name the password.
fn fails_at_once(url: &str) -> String {
    let home = Home::with(&Agent::new()).set("store", json!({"url": url}));
    home.write();
    let began = Instant::now();
    let error = home.cli(&["serve"]).fails(1);
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}: {error}", began.elapsed());
    assert!(error.contains("store.url") && !error.contains("not-for-logs"), "{error}");
    error
}

#[test]
fn what_does_not_pass_by_itself_is_said_at_once() {
    let cluster = Cluster::shared();
    let error = fails_at_once(&cluster.url("nowhere").replace("postgres@", "postgres:not-for-logs@"));
    assert!(error.contains("\"nowhere\" does not exist"), "{error}");
    let database = Database::create();
    let error = fails_at_once(&database.url().replace("postgres@", "nobody-here:not-for-logs@"));
    assert!(error.contains("\"nobody-here\" does not exist"), "{error}");
    let url = database.url();
    assert_eq!(Home::with(&Agent::new()).set("store", json!({"url": url})).start().stop(), 0);
    database.run("UPDATE doorbell.meta SET value = 99 WHERE name IN ('schema', 'min_reader')");
    let error = fails_at_once(&url);
    assert!(error.contains("schema 99") && error.contains("newer doorbell"), "{error}");
}

#[test]
fn the_way_to_the_database_is_encrypted_and_its_name_proved_where_that_is_wanted() {
    let (database, agent) = (Database::create(), Agent::new());
    let certificate = Cluster::shared().certificate().display().to_string();
    let (by_number, by_name) = (database.url(), database.url().replace("127.0.0.1", "localhost"));
    let works = |url: String| {
        let mut bell = Home::with(&agent).set("store", json!({"url": url})).start();
        bell.wait_event(&bell.send("r", &json!({"n": 1})), "succeeded");
        let sql = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                   WHERE datname = current_database() AND application_name = 'doorbell'";
        assert_eq!(database.run(sql), ["t"], "all of its connections are encrypted");
        assert_eq!(bell.stop(), 0);
    };
    works(format!("{by_number}?sslmode=require"));
    works(format!("{by_name}?sslmode=verify-full&sslrootcert={certificate}"));
    let error = fails_at_once(&format!("{by_number}?sslmode=verify-full&sslrootcert={certificate}"));
    assert!(error.contains("certificate") && error.contains("127.0.0.1"), "{error}");
    let error = fails_at_once(&format!("{by_name}?sslmode=verify-full"));
    assert!(error.contains("certificate"), "nobody vouches for it: {error}");
    let error = fails_at_once(&format!("{by_name}?sslmode=verify-full&sslrootcert=/nowhere.pem"));
    assert!(error.contains("/nowhere.pem"), "{error}");
}

/// Commands that read, and one that writes.
const COMMANDS: [&[&str]; 4] = [&["events", "list"], &["status"], &["nodes"], &["pause", "r"]];

#[test]
fn commands_without_a_gateway_say_that_the_database_is_away() {
    let (database, proxy) = (Database::create(), Proxy::before(Cluster::shared().port));
    let home = Home::with(&Agent::new()).set("store", json!({"url": proxy.url(&database.url())}));
    home.write();
    for goes in [Proxy::refuses, Proxy::falls_silent] {
        goes(&proxy);
        for command in COMMANDS {
            let began = Instant::now();
            let error = home.cli(command).fails(1);
            assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
            assert!(error.contains("cannot be reached") && error.contains("store.url"), "{error}");
        }
    }
    proxy.opens();
    for command in COMMANDS {
        home.cli(command).ok();
    }
}
