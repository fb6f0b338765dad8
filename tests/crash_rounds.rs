//! A gateway is ended at any moment, again and again, by kill -9 and by power cuts; in the end everything that was acknowledged
//! has been done once. `DOORBELL_SEED` repeats a run's moments, as far as the machine lets it; `DOORBELL_ROUNDS` says how many
//! rounds there are, where it is not to be each named point once and some more.

mod support;

#[path = "crash_rounds/chance.rs"]
mod chance;
#[path = "crash_rounds/first.rs"]
mod first;
#[path = "crash_rounds/house.rs"]
mod house;
#[path = "crash_rounds/judge.rs"]
mod judge;
#[path = "crash_rounds/ledger.rs"]
mod ledger;
#[path = "crash_rounds/load.rs"]
mod load;
#[path = "crash_rounds/notes.rs"]
mod notes;
#[path = "crash_rounds/rounds.rs"]
mod rounds;
#[path = "crash_rounds/tally.rs"]
mod tally;

use chance::{Chance, setting};
use rounds::{Kind, World};
use support::*;
use tally::Tally;

/// Points of the first start of all, which `first.rs` is about.
fn only_at_first(name: &str) -> bool {
    ["migrate.", "token.", "copy."].iter().any(|area| name.starts_with(area))
}

/// Rounds that one gateway goes through before another takes its place: enough to have a past, few enough to be repeated.
const ROUNDS_OF_A_HOUSE: usize = 100;
const OTHERS: [Kind; 4] = [Kind::Load, Kind::Stop, Kind::Idle, Kind::Start];

/// All named points in an order of chance, the other kinds in between.
fn each_point_once(chance: &mut Chance) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = points(chance).into_iter().map(Kind::Point).chain(OTHERS).chain(OTHERS).collect();
    chance.shuffle(&mut kinds);
    kinds
}

/// So many rounds, every other one at a named point.
fn of_all_kinds(count: usize, chance: &mut Chance) -> Vec<Kind> {
    let mut points = points(chance).into_iter().map(Kind::Point).cycle();
    let mut others = OTHERS.into_iter().cycle();
    (0..count).filter_map(|number| if number % 2 == 0 { points.next() } else { others.next() }).collect()
}

fn points(chance: &mut Chance) -> Vec<&'static str> {
    let mut points: Vec<_> = points::NAMES.iter().copied().filter(|name| !only_at_first(name)).collect();
    chance.shuffle(&mut points);
    points
}

/// Every other life ends with the machine.
fn power(chance: &mut Chance) -> Option<Rest> {
    *chance.one_of(&[None, None, None, Some(Rest::Nothing), Some(Rest::Sectors), Some(Rest::Torn)])
}

/// Goes through these rounds with one gateway and judges what came of it.
fn play(seed: u64, rounds: Vec<Kind>, tally: &mut Tally) {
    let (mut world, count) = (World::new(seed), rounds.len());
    let mut chance = Chance::new(seed);
    for kind in rounds {
        let power = power(&mut chance);
        eprintln!("{kind:?}, power: {power:?}");
        world.round(kind, power);
    }
    let order = world.finish();
    judge::judge(&world, &order);
    assert_eq!(world.house.bell.stop(), 0);
    ledger::left(world.house.bell.home().path());
    assert!(world.known.count() >= count, "there was hardly any load");
    tally.add(world.tally);
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_done_twice() {
    let mut seed = setting("DOORBELL_SEED").unwrap_or_else(chance::fresh_seed);
    let mut tally = Tally::default();
    let mut left = setting("DOORBELL_ROUNDS");
    while left != Some(0) {
        let mut chance = Chance::new(seed);
        let rounds = match left {
            None => each_point_once(&mut chance),
            Some(left) => of_all_kinds(left.min(ROUNDS_OF_A_HOUSE), &mut chance),
        };
        let asked = left.map_or_else(String::new, |_| format!(" DOORBELL_ROUNDS={}", rounds.len()));
        eprintln!("to repeat: DOORBELL_SEED={seed}{asked}");
        left = Some(left.map_or(0, |left: usize| left - rounds.len()));
        play(seed, rounds, &mut tally);
        seed = seed.wrapping_add(2);
    }
    eprintln!("{}", tally.table());
}
