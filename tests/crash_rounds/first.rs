//! First starts that die, and what the simulated disk can do: single lives, each in a home of its own.

use std::os::unix::process::ExitStatusExt as _;

use rustix::process::Signal;

use super::support::*;

/// A home whose gateway dies at this point when `begin_or_end` starts it.
fn home(agent: &Agent, power: &Power, point: &str) -> Doorbell {
    let home = power.under(Home::with(agent).env("DOORBELL_AT_POINT", &format!("{point}=kill")));
    home.write();
    home.not_started()
}

fn goes_on(bell: &mut Doorbell, what: &str) {
    bell.rewrite(|home| home.env("DOORBELL_AT_POINT", ""));
    bell.begin();
    let token = std::fs::read_to_string(bell.home().join("admin.token")).expect("a token");
    assert!(token.trim().len() >= 32, "{what}: {token:?}");
    let event = bell.send("r", &json!({"n": what}));
    bell.wait_event(&event, "succeeded");
    assert_eq!(bell.stop(), 0, "{what}");
    assert!(!bell.home().join("admin.token.new").exists(), "{what}");
}

#[test]
fn a_first_start_may_die_anywhere() {
    let agent = Agent::new();
    let first = |name: &&str| ["migrate.", "token.", "start.", "begin_boot."].iter().any(|area| name.starts_with(area));
    for point in points::NAMES.iter().filter(|name| first(name)) {
        let power = Power::new();
        let mut bell = home(&agent, &power, point);
        // What comes after the ready line may come after it is read.
        let end = bell.begin_or_end().unwrap_or_else(|| until_some("it dies", || bell.ended()));
        assert_eq!(end.signal(), Some(Signal::KILL.as_raw()), "{point}: {end:?}\n{}", bell.log());
        power.cut(bell.home().path(), Rest::Nothing, &mut |_| 0);
        goes_on(&mut bell, point);
    }
}

#[test]
fn a_power_cut_takes_what_was_not_synced_and_nothing_else() {
    let agent = Agent::gated();
    for (durability, kept) in [("normal", false), ("full", true)] {
        let power = Power::new();
        let home = power.under(Home::with(&agent)).set("store", json!({"durability": durability}));
        let mut bell = home.start();
        // The ledger itself is on the disk.
        assert_eq!(bell.stop(), 0);
        bell.begin();
        let event = bell.send("r", &json!({}));
        bell.kill9();
        let lost = power.cut(bell.home().path(), Rest::Nothing, &mut |_| 0);
        bell.begin();
        let there = bell.list("/events").iter().any(|known| known["id"] == *event);
        assert_eq!(there, kept, "durability {durability}, {lost} bytes lost");
    }
}

#[test]
fn a_plan_that_nobody_understands_starts_nothing() {
    let agent = Agent::new();
    for (plan, why) in
        [("start.nowhere=kill", "there is no point start.nowhere"), ("start.ready=dance", "no action dance")]
    {
        let home = Home::with(&agent).env("DOORBELL_AT_POINT", plan);
        home.write();
        let said = home.cli(&["serve"]).fails(2);
        assert!(said.contains(why) && said.contains("DOORBELL_AT_POINT"), "{said}");
    }
}
