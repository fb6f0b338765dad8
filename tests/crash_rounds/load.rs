//! Those who use the gateway while it lives: senders, who ring as providers do, and a person at the admin address.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Mutex;

use super::chance::Chance;
use super::support::*;

/// Characters of a large body.
const LARGE: usize = 48 << 10;

/// Characters of a body that is as large as may be.
const HUGE: usize = 900 << 10;

/// What was acknowledged: the event or events of each delivery id, in their order.
#[derive(Default)]
pub(crate) struct Acknowledged(Mutex<BTreeMap<String, Vec<String>>>);

impl Acknowledged {
    fn note(&self, id: &str, event: &str) {
        let mut all = self.0.lock().unwrap();
        let events = all.entry(id.to_owned()).or_default();
        if events.last().is_none_or(|last| last != event) {
            events.push(event.to_owned());
        }
    }

    pub(crate) fn all(&self) -> BTreeMap<String, Vec<String>> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().values().map(Vec::len).sum()
    }
}

/// Rings one event after the other; what was not acknowledged is sent again, in the next life if need be.
pub(crate) struct Sender {
    name: usize,
    number: usize,
    chance: Chance,
    acknowledged: Vec<(&'static str, String, Value)>,
}

impl Sender {
    pub(crate) fn new(name: usize, seed: u64) -> Sender {
        Sender { name, number: 0, chance: Chance::new(seed.wrapping_add(name as u64 * 7919)), acknowledged: Vec::new() }
    }

    /// Rings so many events, or until the gateway has gone. `false`: it has.
    pub(crate) fn burst(&mut self, address: SocketAddr, count: usize, known: &Acknowledged) -> bool {
        (0..count).all(|_| self.one(address, known)) && self.copy(address, known)
    }

    fn one(&mut self, address: SocketAddr, known: &Acknowledged) -> bool {
        let id = format!("{}-{}", self.name, self.number);
        // By the number, so that the same id always means the same event.
        let route = ["quick", "serial", "safe", "serial", "shaky", "quick", "picky"][(self.number + 2 * self.name) % 7];
        let mut body = json!({"n": id, "line": format!("line{}", self.name)});
        if route == "quick" {
            // The ledger's log fills up and is written back.
            body["padding"] = json!(noise(LARGE, &mut self.chance));
        }
        let ring = Ring::at(address, route).id(&id).json(&body);
        let ring = if route == "picky" { ring.event("gossip") } else { ring };
        let Ok(answer) = ring.try_post() else { return false };
        assert!(matches!(answer.status, 200 | 202 | 503), "{answer:?}");
        if answer.status == 503 {
            return false;
        }
        if let Some(event) = answer.json()["event_id"].as_str() {
            known.note(&id, event);
            self.acknowledged.push((route, id, body));
        }
        self.number += 1;
        true
    }

    /// A copy of an earlier one, as providers send them.
    fn copy(&mut self, address: SocketAddr, known: &Acknowledged) -> bool {
        let recent = self.acknowledged.len().saturating_sub(40);
        if self.acknowledged.is_empty() {
            return true;
        }
        let (route, id, body) = self.chance.one_of(&self.acknowledged[recent..]).clone();
        let Ok(answer) = Ring::at(address, route).id(&id).json(&body).try_post() else { return false };
        if let Some(event) = answer.json()["event_id"].as_str() {
            known.note(&id, event);
        }
        true
    }
}

/// A text of about this length that no packing makes much shorter.
fn noise(length: usize, chance: &mut Chance) -> String {
    let words: Vec<String> = (0..length / 8).map(|_| format!("{:08x}", chance.below(1 << 32))).collect();
    words.concat()
}

/// Requests so large that the ledger's log must soon be copied; nobody wants them, so that no agent has work with them.
pub(crate) struct Flood(String);

impl Flood {
    pub(crate) fn new(chance: &mut Chance) -> Flood {
        Flood(noise(HUGE, chance))
    }

    /// One of them; whether it was answered is all the same.
    pub(crate) fn wave(&self, address: SocketAddr) {
        let _ = Ring::at(address, "picky").event("gossip").json(&json!({"padding": self.0})).try_post();
    }
}

/// A person at the admin address, who pauses a route, puts events of it right, and lets it go on.
#[derive(Default)]
pub(crate) struct Person {
    number: usize,
    /// What they were last told: the route is paused, or is not; nothing while an answer is missing.
    pub(crate) paused: Option<bool>,
    /// Events that they were told are cancelled, for good.
    pub(crate) cancelled: Vec<String>,
    /// Deliveries that were told to be sent again, and how often at most.
    pub(crate) asked_again: BTreeMap<String, u64>,
}

/// The admin address and its token.
pub(crate) struct Desk {
    pub(crate) public: SocketAddr,
    admin: SocketAddr,
    token: String,
}

impl Desk {
    pub(crate) fn of(bell: &Doorbell) -> Desk {
        let token = std::fs::read_to_string(bell.home().join("admin.token")).expect("a token");
        Desk { public: bell.address(), admin: bell.admin_address(), token: token.trim().to_owned() }
    }

    /// `None`: the gateway has gone.
    fn ask(&self, method: &str, path: &str) -> Option<Answer> {
        let headers = [("Authorization".to_owned(), format!("Bearer {}", self.token))];
        exchange(self.admin, method, &format!("/api/v1{path}"), &headers, b"").ok()
    }

    /// Whether a route is paused.
    pub(crate) fn paused(&self, route: &str) -> Option<bool> {
        let routes = self.ask("GET", "/routes")?.json();
        let route = routes["items"].as_array()?.iter().find(|known| known["name"] == route)?;
        Some(route["state"] == "paused")
    }

    fn tell(&self, path: &str) -> Option<()> {
        let answer = self.ask("POST", path)?;
        (answer.status < 300).then_some(())
    }
}

impl Person {
    /// Does it all once, as far as the gateway lives.
    pub(crate) fn work(&mut self, desk: &Desk, known: &Acknowledged) -> Option<()> {
        self.paused = None;
        desk.tell("/routes/parked/pause")?;
        self.paused = Some(true);
        let (right, wrong) = (self.send(desk, known)?, self.send(desk, known)?);
        desk.tell(&format!("/events/{right}/cancel"))?;
        desk.tell(&format!("/events/{right}/retry"))?;
        desk.tell(&format!("/events/{wrong}/cancel"))?;
        self.cancelled.push(wrong);
        self.paused = None;
        desk.tell("/routes/parked/resume")?;
        self.paused = Some(false);
        let given_up = desk.ask("GET", "/deliveries?state=exhausted&limit=1")?.json();
        if let Some(id) = given_up["items"][0]["id"].as_str() {
            *self.asked_again.entry(id.to_owned()).or_default() += 1;
            desk.tell(&format!("/deliveries/{id}/retry"))?;
        }
        Some(())
    }

    fn send(&mut self, desk: &Desk, known: &Acknowledged) -> Option<String> {
        self.number += 1;
        let id = format!("parked-{}", self.number);
        let answer = Ring::at(desk.public, "parked").id(&id).json(&json!({"n": id})).try_post().ok()?;
        let event = answer.json()["event_id"].as_str()?.to_owned();
        known.note(&id, &event);
        Some(event)
    }
}
