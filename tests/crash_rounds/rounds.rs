//! The rounds: lives of one gateway, and how each of them ends.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::chance::Chance;
use super::house::{House, WAYS};
use super::ledger::{self, Left};
use super::load::{Acknowledged, Desk, Flood, Person, Sender};
use super::notes::{notes, nothing_outlives};
use super::support::*;
use super::tally::Tally;

const SENDERS: usize = 3;
/// Events that a sender rings without a pause.
const BURST: usize = 6;
/// Between two bursts, so that what is acknowledged can be done.
const BREATH: Duration = Duration::from_millis(150);

/// Requests of a flood: once they are removed, so much of the file is free that it is given back.
const WAVES: usize = 60;

/// How a life ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// By kill -9 at any moment, under load.
    Load,
    /// The same, after much came that nobody wanted.
    Flood,
    /// By kill -9 around a single event, after everything was done.
    Idle,
    /// At a named point.
    Point(&'static str),
    /// By kill -9 while it starts.
    Start,
    /// By kill -9 while it stops.
    Stop,
}

/// What is known of all lives so far.
#[derive(Default)]
pub(crate) struct Facts {
    /// Runs that a death cut off, with the boot that was on the disk then.
    pub(crate) cut_off: BTreeMap<String, i64>,
    /// Deliveries that a death cut off, where a second copy would do harm.
    pub(crate) unsure: BTreeSet<String>,
    /// Parts of the agents' log whose runs a power cut may have made the ledger forget.
    pub(crate) before_cuts: Vec<std::ops::Range<usize>>,
    /// What each life added to the agents' log, with the last boot that was on the disk at its end.
    lives: Vec<(i64, std::ops::Range<usize>)>,
    /// Whether a gateway was told to stop: it hands runs back by itself.
    pub(crate) stopped: bool,
}

/// All that takes part.
pub(crate) struct World {
    pub(crate) house: House,
    pub(crate) chance: Chance,
    pub(crate) known: Acknowledged,
    pub(crate) person: Person,
    pub(crate) facts: Facts,
    pub(crate) tally: Tally,
    senders: Vec<Sender>,
}

impl World {
    pub(crate) fn new(seed: u64) -> World {
        World {
            house: House::new(),
            chance: Chance::new(seed),
            known: Acknowledged::default(),
            person: Person::default(),
            facts: Facts::default(),
            tally: Tally::default(),
            senders: (0..SENDERS).map(|name| Sender::new(name, seed)).collect(),
        }
    }

    /// One round: what must have been before, then the life that it is about. With `power` the machine goes, not only the
    /// process.
    pub(crate) fn round(&mut self, kind: Kind, power: Option<Rest>) {
        if let Kind::Point(name) = kind {
            self.prepare(name);
        }
        self.life(kind, power);
    }

    /// Leaves behind what a point of the next life is about.
    fn prepare(&mut self, name: &str) {
        if name.starts_with("recover.run") {
            self.life(Kind::Point("process.started"), None);
        } else if name.starts_with("recover.delivery") || name.starts_with("adopt_delivery") {
            self.life(Kind::Point("delivery.claimed"), None);
        } else if name.starts_with("give_back") {
            self.life(Kind::Flood, None);
        } else if name.starts_with("remove") {
            while ledger::left(self.house.bell.home().path()).ignored == 0 {
                self.life(Kind::Load, None);
            }
        }
    }

    fn life(&mut self, kind: Kind, power: Option<Rest>) {
        let (log, acknowledged) = (notes(self.house.bell.home().path()).len(), self.known.count());
        let plan = match kind {
            Kind::Point(name) => format!("{name}#{}=kill", 1 + self.chance.below(times(name))),
            _ => String::new(),
        };
        self.house.at_point(&plan);
        match kind {
            Kind::Start => self.house.bell.begin_and_kill9(self.chance.millis(1, 150)),
            Kind::Load => self.under_load(|bell, chance| {
                wait(chance.millis(10, 400));
                bell.kill9();
            }),
            Kind::Flood => self.under_load(|bell, chance| {
                let flood = Flood::new(chance);
                for _ in 0..WAVES {
                    flood.wave(bell.address());
                }
                bell.kill9();
            }),
            Kind::Stop => self.under_load(|bell, chance| {
                wait(chance.millis(10, 250));
                bell.signal(Signal::TERM);
                wait(chance.millis(0, 150));
                bell.kill9();
            }),
            Kind::Idle => self.idle(),
            Kind::Point(name) => self.point(name, &plan),
        }
        self.facts.stopped |= kind == Kind::Stop || plan.starts_with("stop.");
        self.aftermath(kind, power, log, acknowledged);
    }

    /// Lives under load until `end` has ended it.
    fn under_load(&mut self, end: impl FnOnce(&mut Doorbell, &mut Chance)) {
        if self.house.bell.is_dead() {
            self.house.bell.begin();
        }
        let desk = Desk::of(&self.house.bell);
        if let Some(paused) = self.person.paused {
            let parked = desk.paused("parked");
            assert!(
                parked.is_none_or(|parked| parked == paused),
                "a route is paused: {parked:?}; it was told to be: {paused}"
            );
        }
        let World { house, senders, person, known, chance, .. } = self;
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (over, desk, known) = (&over, &desk, &*known);
            for sender in senders {
                scope.spawn(move || {
                    while sender.burst(desk.public, BURST, known) && !over.load(Ordering::SeqCst) {
                        wait(BREATH);
                    }
                });
            }
            scope.spawn(move || {
                while person.work(desk, known).is_some() && !over.load(Ordering::SeqCst) {
                    wait(BREATH);
                }
            });
            // A panic must not leave them going.
            let _over = Over(over);
            end(&mut house.bell, chance);
        });
    }

    fn idle(&mut self) {
        self.house.bell.begin();
        drained(&self.house.bell);
        let address = self.house.bell.address();
        self.senders[0].burst(address, 1, &self.known);
        wait(self.chance.millis(0, 60));
        self.house.bell.kill9();
    }

    /// Lives until it dies by itself, as `plan` wants it.
    fn point(&mut self, name: &str, plan: &str) {
        let polite = name.starts_with("stop.");
        let mut end = self.house.bell.begin_or_end();
        if end.is_none() {
            self.under_load(|bell, chance| {
                if polite {
                    wait(chance.millis(10, 200));
                    bell.signal(Signal::TERM);
                }
                let address = bell.address();
                let flood = name.starts_with("log.").then(|| Flood::new(chance));
                end = Some(until_some(&format!("the gateway dies: {plan}"), || {
                    if let Some(flood) = &flood {
                        flood.wave(address);
                    }
                    bell.ended()
                }));
            });
        }
        let end = end.expect("it has ended");
        assert_eq!(end.signal(), Some(Signal::KILL.as_raw()), "{plan}: {end:?}\n{}", self.house.bell.log());
    }

    /// What is to be seen after each death, and what is to be remembered of it.
    fn aftermath(&mut self, kind: Kind, power: Option<Rest>, log: usize, acknowledged: usize) {
        let home = self.house.bell.home().path();
        nothing_outlives(home);
        if let Some(rest) = power {
            let chance = &mut self.chance;
            let lost = self.house.power.cut(home, rest, &mut |limit| chance.below(limit));
            self.tally.cut(kind, lost);
        }
        let Left { events, runs, running, sending, tried, boot, .. } = ledger::left(home);
        self.facts.lives.push((boot, log..notes(home).len()));
        if power.is_some() {
            // The boot that is on the disk was synced, and with it all that was written before. What came after it may be
            // gone, also from lives that ended without a cut, when the last one did not come as far as to sync anything.
            let since = self.facts.lives.iter().filter(|(of, _)| *of >= boot).map(|(_, part)| part.clone());
            self.facts.before_cuts.extend(since);
            self.facts.cut_off.retain(|run, of| *of < boot || runs.contains(run));
            // Written by a life that died before its disk had it, and so before a byte was sent: it never happened.
            self.facts.unsure.retain(|delivery| tried.contains(delivery));
        }
        for (id, of) in self.known.all() {
            assert!(of.iter().all(|event| events.contains_key(event)), "{id} was acknowledged as {of:?} and is lost");
        }
        let unsure: BTreeSet<String> =
            sending.into_iter().filter(|(_, target)| !safe(target)).map(|(id, _)| id).collect();
        self.tally.life(
            kind,
            &super::tally::Life {
                acknowledged: self.known.count() - acknowledged,
                interrupted: running.iter().filter(|run| !self.facts.cut_off.contains_key(*run)).count(),
                unknown: unsure.difference(&self.facts.unsure).count(),
            },
        );
        for run in running {
            self.facts.cut_off.entry(run).or_insert(boot);
        }
        self.facts.unsure.extend(unsure);
    }

    /// The last life: everything that is open is done, and nothing stops it any more.
    pub(crate) fn finish(&mut self) -> BTreeMap<String, i64> {
        self.house.at_point("");
        self.house.bell.begin();
        let address = self.house.bell.address();
        for sender in &mut self.senders {
            assert!(sender.burst(address, 1, &self.known), "the last life answers");
        }
        self.house.bell.admin("POST", "/api/v1/routes/parked/resume").expect(200);
        drained(&self.house.bell);
        ledger::left(self.house.bell.home().path()).events
    }
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// How often a point may be passed before it is deadly: as often as it is passed in any life.
fn times(name: &str) -> u64 {
    match name.split_once('.').map_or(name, |(area, _)| area) {
        "admit" | "request" | "run" | "process" | "delivery" | "finish_run" | "claim_runs" | "record_prompt"
        | "claim_deliveries" | "finish_delivery" | "lines" => 4,
        "writer" => 30,
        _ => 1,
    }
}

/// Whether a target takes an answer twice without harm.
fn safe(target: &str) -> bool {
    WAYS.iter().any(|way| way.target == target && way.safe)
}

pub(crate) fn drained(bell: &Doorbell) {
    until("everything is done", || {
        let status = bell.get("/status");
        let open =
            |noun: &str, states: &[&str]| states.iter().any(|state| status[noun][state].as_u64().unwrap_or(0) > 0);
        !open("events", &["queued", "running", "failed"]) && !open("deliveries", &["pending", "sending", "failed"])
    });
}

/// Lets so much time pass: lives of every length are what the rounds are about.
fn wait(time: Duration) {
    let until = Instant::now() + time;
    while let Some(left) = until.checked_duration_since(Instant::now()) {
        std::thread::park_timeout(left);
    }
}
