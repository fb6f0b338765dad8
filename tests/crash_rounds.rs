//! A gateway under load is killed at any moment, again and again; in the end everything that was acknowledged has been done
//! once. `DOORBELL_SEED` repeats a run's moments, `DOORBELL_ROUNDS` says how many there are.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, RwLock};
use std::time::{Duration, Instant};

use support::*;

const SENDERS: usize = 3;
const ROUTES: [&str; 2] = ["quick", "other"];

/// Notes its start and its end, each by one write, and answers the event's id. The work between them is short but not nothing.
const AGENT: &str = r#"
cat > /dev/null
echo "START $DOORBELL_EVENT_ID $DOORBELL_RUN_ID $$" >> "$1"
sleep 0.0$(( $$ % 5 ))
echo "END $DOORBELL_EVENT_ID $DOORBELL_RUN_ID $$" >> "$1"
echo "answer for $DOORBELL_EVENT_ID"
"#;

/// Where the gateway listens now, and what it acknowledged.
struct World {
    address: RwLock<SocketAddr>,
    over: AtomicBool,
    /// Event by delivery id.
    acknowledged: Mutex<BTreeMap<String, String>>,
}

#[test]
fn twenty_kills_lose_nothing_and_double_nothing() {
    let rounds: u32 = setting("DOORBELL_ROUNDS").unwrap_or(20);
    let seed: u64 = setting("DOORBELL_SEED").unwrap_or_else(|| u64::from(std::process::id()) ^ now_s().cast_unsigned());
    eprintln!("DOORBELL_SEED={seed} DOORBELL_ROUNDS={rounds}");
    let mut chance = Chance(seed | 1);
    let agent = json!({"preset": "command", "command": ["sh", "-c", AGENT, "agent", "agents.log"], "hint": false, "max_concurrent": 8});
    let mut home =
        Home::new().agent("default", agent).target("answers", json!({"type": "file", "path": "answers.jsonl"}));
    for route in ROUTES {
        home = home.route(route, json!({"prompt": "{n}", "deliver": "answers"}));
    }
    let mut bell = home.start();
    let world =
        World { address: RwLock::new(bell.address()), over: AtomicBool::new(false), acknowledged: Mutex::default() };
    std::thread::scope(|scope| {
        for sender in 0..SENDERS {
            let world = &world;
            scope.spawn(move || send_all(world, sender));
        }
        // A panic of a round must not leave the senders going.
        let _over = Over(&world.over);
        for _ in 0..rounds {
            let until = Instant::now() + Duration::from_millis(50 + chance.below(550));
            while let Some(left) = until.checked_duration_since(Instant::now()) {
                std::thread::park_timeout(left);
            }
            bell.kill9();
            nothing_outlives(&bell.home().join("agents.log"));
            integrity(bell.home().path());
            bell.begin();
            *world.address.write().unwrap() = bell.address();
        }
    });
    until("the queue is empty", || {
        let status = bell.get("/status");
        let open =
            |noun: &str, states: &[&str]| states.iter().any(|state| status[noun][state].as_u64().unwrap_or(0) > 0);
        !open("events", &["queued", "running", "failed", "held"])
            && !open("deliveries", &["pending", "sending", "failed"])
    });
    let acknowledged = world.acknowledged.into_inner().unwrap();
    judge(&bell, &acknowledged);
    assert_eq!(bell.stop(), 0);
    integrity(bell.home().path());
}

fn setting<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

/// xorshift64*, so that a seed repeats the moments.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % limit
    }
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Rings as a provider does: an id that was not acknowledged is sent again until it is.
fn send_all(world: &World, sender: usize) {
    for number in 0.. {
        let id = format!("{sender}-{number}");
        let route = ROUTES[number % ROUTES.len()];
        loop {
            let address = *world.address.read().unwrap();
            let answer = Ring::at(address, route).id(&id).json(&json!({"n": id})).try_post();
            if let Ok(answer) = &answer {
                let said = answer.json();
                assert!(matches!(answer.status, 202 | 200 | 503), "{answer:?}");
                if answer.status != 503 {
                    let event = said["event_id"].as_str().unwrap().to_owned();
                    world.acknowledged.lock().unwrap().insert(id, event);
                    break;
                }
            }
            if world.over.load(Ordering::SeqCst) {
                return;
            }
            std::thread::yield_now();
        }
        if world.over.load(Ordering::SeqCst) {
            return;
        }
    }
}

/// The agents' notes: whether it is a start, the event, the run, the process.
fn notes(log: &Path) -> Vec<(bool, String, String, u32)> {
    let text = fs::read_to_string(log).unwrap_or_default();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let note = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [mark, event, run, pid] = words[..] else { panic!("not written in one piece: {line:?}") };
        (mark == "START", event.to_owned(), run.to_owned(), pid.parse().unwrap())
    };
    whole.lines().map(note).collect()
}

/// After a kill, no agent lives on: its warden ends it.
fn nothing_outlives(log: &Path) {
    let killed = Instant::now();
    // One that was just about to note its start may come while we look.
    until("all agents of the killed gateway have ended", || {
        let notes = notes(log);
        let ended: BTreeSet<&str> = notes.iter().filter(|note| !note.0).map(|note| note.2.as_str()).collect();
        !notes.iter().any(|(start, _, run, pid)| *start && !ended.contains(run.as_str()) && alive(*pid))
    });
    assert!(killed.elapsed() < Duration::from_secs(10), "agents lived {:?} longer", killed.elapsed());
}

fn integrity(home: &Path) {
    let ledger = rusqlite::Connection::open(home.join("doorbell.db")).unwrap();
    let verdict: String = ledger.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
}

fn judge(bell: &Doorbell, acknowledged: &BTreeMap<String, String>) {
    let events: BTreeMap<String, Value> = by_id(bell.list("/events?limit=1000"));
    let runs = bell.list("/runs?limit=1000");
    let given_up = each_event_is_done_once(&events, &runs, acknowledged);
    no_runs_overlap(&notes(&bell.home().join("agents.log")));
    let (told, unknown) = no_answer_is_told_twice(bell);
    let interrupted = runs.iter().filter(|run| run["state"] == "interrupted").count();
    assert_eq!(runs.len(), events.len() - given_up + interrupted, "a run is a success or was interrupted");
    eprintln!(
        "{} events acknowledged, {} in all, {given_up} given up; {} runs, {interrupted} of them interrupted; \
         {told} answers, {unknown} deliveries of unknown outcome",
        acknowledged.len(),
        events.len(),
        runs.len(),
    );
    assert!(acknowledged.len() >= 20, "there was hardly any load");
}

/// Every event has succeeded by one run and has one delivery, and all that were acknowledged are there. The one way out is
/// the rule against crash loops: an event that five lives in a row cut off is given up. Answers how many took it.
fn each_event_is_done_once(
    events: &BTreeMap<String, Value>,
    runs: &[Value],
    acknowledged: &BTreeMap<String, String>,
) -> usize {
    let mut ends: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for run in runs {
        ends.entry(run["event_id"].as_str().unwrap()).or_default().push(run["state"].as_str().unwrap());
    }
    let mut given_up = 0;
    for (event, known) in events {
        let (ends, deliveries) = (&ends[event.as_str()], known["deliveries"].as_array().unwrap().len());
        let successes = ends.iter().filter(|end| **end == "succeeded").count();
        if known["state"] == "exhausted" {
            assert_eq!((&known["reason"], ends), (&json!("crash_loop"), &vec!["interrupted"; 5]), "{known}");
            assert_eq!(deliveries, 0, "{known}");
            given_up += 1;
        } else {
            assert_eq!((&known["state"], successes, deliveries), (&json!("succeeded"), 1, 1), "{known}");
        }
    }
    for (id, event) in acknowledged {
        let known = events.get(event).unwrap_or_else(|| panic!("{id} was acknowledged as {event} and is lost"));
        assert_eq!(known["delivery_id"], *id, "{known}");
    }
    let ids: BTreeSet<&str> = events.values().map(|event| event["delivery_id"].as_str().unwrap()).collect();
    // An id whose event was given up may be new work.
    assert!(events.len() - ids.len() <= given_up, "a delivery id made two events");
    given_up
}

/// No run of an event began before its earlier one had ended: nothing is noted by an earlier run after a later one began.
fn no_runs_overlap(notes: &[(bool, String, String, u32)]) {
    let mut current: BTreeMap<&str, &str> = BTreeMap::new();
    for (start, event, run, _) in notes {
        if *start {
            current.insert(event, run);
        } else {
            assert_eq!(current.get(event.as_str()), Some(&run.as_str()), "a run of {event} went on beside a later one");
        }
    }
}

/// An answer is in the file once; where nobody knows, at most once. Answers how many are there, and of how many nobody knows.
fn no_answer_is_told_twice(bell: &Doorbell) -> (usize, usize) {
    let mut told: BTreeMap<String, u32> = BTreeMap::new();
    for line in bell.home().lines("answers.jsonl") {
        let event = line["event_id"].as_str().unwrap();
        assert_eq!(line["content"], format!("answer for {event}"));
        *told.entry(event.to_owned()).or_default() += 1;
    }
    let mut unknown = 0;
    for delivery in bell.list("/deliveries?limit=1000") {
        let times = told.get(delivery["event_id"].as_str().unwrap()).copied().unwrap_or(0);
        match delivery["state"].as_str().unwrap() {
            "delivered" => assert_eq!(times, 1, "{delivery}"),
            "unknown" => {
                assert!(times <= 1, "{delivery}");
                unknown += 1;
            }
            _ => panic!("{delivery}"),
        }
    }
    (told.len(), unknown)
}

fn by_id(rows: Vec<Value>) -> BTreeMap<String, Value> {
    rows.into_iter().map(|row| (row["id"].as_str().unwrap().to_owned(), row)).collect()
}
