//! What must be so after all rounds, whatever happened in them.

use std::collections::{BTreeMap, BTreeSet};

use super::house::{House, WAYS, Way};
use super::load::Person;
use super::notes::{Note, notes, with_entry};
use super::rounds::{Facts, World};
use super::support::*;

/// Events, runs and deliveries as the admin API shows them.
struct Shown {
    events: BTreeMap<String, Value>,
    runs: Vec<Value>,
    deliveries: Vec<Value>,
}

/// Judges a world whose rounds are over; `order` is the order of arrival.
pub(crate) fn judge(world: &World, order: &BTreeMap<String, i64>) {
    let bell = &world.house.bell;
    let list = |noun: &str| bell.list(&format!("/{noun}?limit=1000"));
    let shown = Shown { events: by_id(list("events")), runs: list("runs"), deliveries: list("deliveries") };
    let notes = notes(bell.home().path());
    counters_are_what_they_count(bell, &shown);
    acknowledged_ids_stand_for_one_event(world, &shown.events);
    each_event_is_done_once(&shown, &world.person);
    runs_are_known(&shown, &notes, &world.facts);
    no_runs_overlap(&notes);
    lines_keep_their_order(&notes, order);
    for way in &WAYS {
        answers_are_told_once(&world.house, way, &shown, world);
    }
    nothing_is_left(bell, &shown);
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().unwrap_or_default()
}

fn by_id(rows: Vec<Value>) -> BTreeMap<String, Value> {
    rows.into_iter().map(|row| (text(&row, "id").to_owned(), row)).collect()
}

fn counters_are_what_they_count(bell: &Doorbell, shown: &Shown) {
    let status = bell.get("/status");
    let rows: [(&str, Vec<&Value>); 2] =
        [("events", shown.events.values().collect()), ("deliveries", shown.deliveries.iter().collect())];
    for (noun, rows) in rows {
        for (state, count) in status[noun].as_object().expect("counts") {
            let rows = rows.iter().filter(|row| row["state"] == **state).count();
            assert_eq!(count.as_u64(), Some(rows as u64), "{noun} {state}");
        }
    }
}

/// Nothing acknowledged is lost. An id means one event for ever, unless that was given up: then a copy is new work.
fn acknowledged_ids_stand_for_one_event(world: &World, events: &BTreeMap<String, Value>) {
    for (id, acknowledged) in world.known.all() {
        for event in &acknowledged {
            let known = events.get(event).unwrap_or_else(|| panic!("{id} was acknowledged as {event} and is lost"));
            assert_eq!(text(known, "delivery_id"), id, "{known}");
        }
    }
    let mut by_delivery_id: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for event in events.values() {
        by_delivery_id.entry(text(event, "delivery_id")).or_default().push(text(event, "state"));
    }
    for (id, states) in by_delivery_id {
        let done = states.iter().filter(|state| **state == "succeeded").count();
        let ended = states.iter().all(|state| matches!(*state, "succeeded" | "exhausted" | "cancelled" | "ignored"));
        assert!(done <= 1 && ended, "{id}: {states:?}");
        let given_up = states.iter().filter(|state| matches!(**state, "exhausted" | "cancelled")).count();
        assert!(states.len() - given_up <= 1 || states[0] == "ignored", "{id} made several events: {states:?}");
    }
}

/// Every event has succeeded by one run and has one delivery. Other ends: it was not wanted, a person cancelled it, or five
/// lives in a row cut it off.
fn each_event_is_done_once(shown: &Shown, person: &Person) {
    let mut ends: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for run in &shown.runs {
        ends.entry(text(run, "event_id")).or_default().push(text(run, "state"));
    }
    for (id, event) in &shown.events {
        let ends = ends.get(id.as_str()).cloned().unwrap_or_default();
        let count = |state: &str| ends.iter().filter(|end| **end == state).count();
        let deliveries = event["deliveries"].as_array().expect("a list").len();
        let failures = usize::from(event["route"] == "shaky");
        assert!(count("failed") <= failures, "{event} {ends:?}");
        assert_eq!(count("succeeded") + count("failed") + count("interrupted"), ends.len(), "{event} {ends:?}");
        let (successes, told) = match text(event, "state") {
            "succeeded" => (1, 1),
            "exhausted" => {
                assert_eq!(event["reason"], "crash_loop", "{event}");
                assert!(count("interrupted") >= 5, "{event} {ends:?}");
                (0, 0)
            }
            "cancelled" => {
                assert!(event["route"] == "parked" && ends.is_empty(), "{event} {ends:?}");
                (0, 0)
            }
            "ignored" => (0, 0),
            _ => panic!("{event}"),
        };
        assert_eq!((count("succeeded"), deliveries), (successes, told), "{event} {ends:?}");
    }
    for event in &person.cancelled {
        assert_eq!(shown.events[event]["state"], "cancelled", "a person was told so");
    }
}

/// A run that noted something is on record. Only a power cut makes the ledger forget one, together with its claim; what it did
/// is done again then. And a run was cut off exactly where the ledger had it in flight at a death.
fn runs_are_known(shown: &Shown, notes: &[Note], facts: &Facts) {
    let known: BTreeMap<&str, &Value> = shown.runs.iter().map(|run| (text(run, "id"), run)).collect();
    let mut forgotten = BTreeSet::new();
    for (place, note) in notes.iter().enumerate() {
        assert!(shown.events.contains_key(&note.event), "an agent saw an event that is not there: {note:?}");
        if let Some(run) = known.get(note.run.as_str()) {
            assert_eq!(run["event_id"], note.event);
        } else {
            let explained = facts.before_cuts.iter().any(|cut| cut.contains(&place));
            assert!(explained, "no power cut explains that this run is not on record: {note:?}");
            forgotten.insert(&note.run);
        }
    }
    let interrupted: BTreeSet<&str> =
        shown.runs.iter().filter(|run| run["state"] == "interrupted").map(|run| text(run, "id")).collect();
    let cut_off: BTreeSet<&str> = facts.cut_off.keys().map(String::as_str).collect();
    let missing: Vec<_> = cut_off.difference(&interrupted).collect();
    assert!(missing.is_empty(), "cut off and not on record as that: {missing:?}");
    let more: Vec<_> = interrupted.difference(&cut_off).collect();
    assert!(facts.stopped || more.is_empty(), "nothing cut these off: {more:?}");
    eprintln!(
        "{} runs, {} cut off, {} handed back by a stop, {} forgotten by power cuts",
        shown.runs.len(),
        cut_off.len(),
        more.len(),
        forgotten.len()
    );
}

/// No run of an event began before its earlier one had ended: nothing is noted by an earlier run after a later one began.
fn no_runs_overlap(notes: &[Note]) {
    let mut current: BTreeMap<&str, &str> = BTreeMap::new();
    for note in notes {
        if note.mark == "START" {
            current.insert(&note.event, &note.run);
        } else {
            assert_eq!(
                current.get(note.event.as_str()),
                Some(&note.run.as_str()),
                "went on beside a later one: {note:?}"
            );
        }
    }
}

/// On a serial line no event begins before all earlier ones have ended, and one at a time.
fn lines_keep_their_order(notes: &[Note], order: &BTreeMap<String, i64>) {
    let mut latest: BTreeMap<&str, i64> = BTreeMap::new();
    for note in notes.iter().filter(|note| note.prompt.starts_with("line")) {
        let line = note.prompt.split(' ').next().unwrap_or_default();
        let place = order[&note.event];
        let latest = latest.entry(line).or_insert(place);
        assert!(*latest <= place, "out of its order: {note:?}");
        *latest = place;
    }
}

/// How often each event's answer came to a target.
fn copies(house: &House, target: &str) -> BTreeMap<String, Vec<String>> {
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut tell = |event: &str, content: &str, id: &str| {
        assert_eq!(content, format!("answer for {event}"), "told by {target}");
        told.entry(event.to_owned()).or_default().push(id.to_owned());
    };
    let webhook = match target {
        "answers" => {
            let bytes = std::fs::read(house.bell.home().join("answers.jsonl")).unwrap_or_default();
            // A cut may leave a piece of a line whose delivery nobody is sure of. It must not spoil the next line.
            for line in bytes.split(|byte| *byte == b'\n') {
                if let Ok(row) = serde_json::from_slice::<Value>(line) {
                    tell(text(&row, "event_id"), text(&row, "content"), text(&row, "id"));
                }
            }
            return told;
        }
        "program" => {
            let text = std::fs::read_to_string(house.bell.home().join("told")).unwrap_or_default();
            for (event, content) in text.lines().map(|line| line.split_once(' ').expect("two words")) {
                tell(event, content, "");
            }
            return told;
        }
        "hook" => &house.hook,
        "again" => &house.again,
        _ => &house.refused,
    };
    for seen in webhook.seen() {
        let body = seen.json();
        tell(text(&body, "event_id"), text(&body, "content"), seen.header("x-hermes-delivery").unwrap_or_default());
    }
    told
}

/// Each answer of a route came once; where a death left nobody sure, at most once, and the delivery says so. Where a second copy
/// does no harm it may come again, with the same id.
fn answers_are_told_once(house: &House, way: &Way, shown: &Shown, world: &World) {
    let told = copies(house, way.target);
    let mut successes: BTreeSet<&str> = shown
        .events
        .values()
        .filter(|e| e["route"] == way.route && e["state"] == "succeeded")
        .map(|e| text(e, "id"))
        .collect();
    for delivery in shown.deliveries.iter().filter(|delivery| delivery["target"] == way.target) {
        let (id, event) = (text(delivery, "id"), text(delivery, "event_id"));
        assert!(successes.remove(event), "no success, or several deliveries: {delivery}");
        let copies = told.get(event).map_or(&[][..], Vec::as_slice);
        assert!(copies.iter().all(|copy| copy.is_empty() || copy == id), "{delivery}: {copies:?}");
        let sure = !world.facts.unsure.contains(id);
        let asked_again = world.person.asked_again.get(id).copied().unwrap_or(0);
        let attempts = delivery["attempts"].as_u64().unwrap_or(0);
        assert!(copies.len() as u64 <= attempts, "{delivery}: {copies:?}");
        match text(delivery, "state") {
            "delivered" if way.safe => assert!(!copies.is_empty(), "{delivery}"),
            "delivered" => assert_eq!((copies.len(), sure), (1, true), "{delivery}"),
            "exhausted" => assert!(way.target == "refused" && attempts <= 1 + asked_again, "{delivery}"),
            "unknown" => {
                assert!(!way.safe && !sure, "nobody was unsure of it: {delivery}");
                assert!(copies.len() as u64 <= 1 + asked_again, "{delivery}: {copies:?}");
                assert_eq!(text(delivery, "error"), "the gateway died while it was sending", "{delivery}");
            }
            _ => panic!("{delivery}"),
        }
    }
    assert!(successes.is_empty(), "these successes have no delivery: {successes:?}");
    // What came to a target is the answer of a success on record: no cut makes the ledger forget that.
    for event in told.keys() {
        assert_eq!(text(&shown.events[event], "state"), "succeeded", "{}", shown.events[event]);
    }
}

/// No file and no process of any run or delivery is left.
fn nothing_is_left(bell: &Doorbell, shown: &Shown) {
    let left: Vec<_> = std::fs::read_dir(bell.home().join("runs")).expect("a folder").flatten().collect();
    assert!(left.is_empty(), "left behind: {left:?}");
    let runs = shown.runs.iter().map(|run| format!("DOORBELL_RUN_ID={}", text(run, "id")));
    let deliveries = shown.deliveries.iter().map(|delivery| format!("DOORBELL_DELIVERY={}", text(delivery, "id")));
    let alive = with_entry(&runs.chain(deliveries).collect());
    assert!(alive.is_empty(), "processes still run: {alive:?}");
}
