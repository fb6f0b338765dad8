//! A gateway is ended at any moment, again and again, by kill -9 and by power cuts; in the end everything that was acknowledged
//! has been done once. `DOORBELL_SEED` repeats a run's moments, `DOORBELL_ROUNDS` says how many rounds there are.

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

use chance::{Chance, seed, setting};
use rounds::{Kind, World};
use support::*;

/// Points of the first start of all, which `first.rs` is about.
fn only_at_first(name: &str) -> bool {
    name.starts_with("migrate.") || name.starts_with("token.")
}

/// The rounds in an order of chance: of four, two end at named points, all points in turn, and one of two in a power cut.
fn rounds(count: usize, chance: &mut Chance) -> Vec<(Kind, Option<Rest>)> {
    let mut points: Vec<&'static str> = points::NAMES.iter().copied().filter(|name| !only_at_first(name)).collect();
    chance.shuffle(&mut points);
    let mut points = points.into_iter().cycle();
    let kinds = (0..count).map(|number| match (number % 2, number / 2 % 4) {
        (0, _) => Kind::Point(points.next().expect("there are points")),
        (_, 0) => Kind::Load,
        (_, 1) => Kind::Stop,
        (_, 2) => Kind::Idle,
        _ => Kind::Start,
    });
    kinds.collect::<Vec<_>>().into_iter().map(|kind| (kind, power(chance))).collect()
}

fn power(chance: &mut Chance) -> Option<Rest> {
    *chance.one_of(&[None, None, None, Some(Rest::Nothing), Some(Rest::Sectors), Some(Rest::Torn)])
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_done_twice() {
    let seed = seed();
    let count = setting("DOORBELL_ROUNDS").unwrap_or(20);
    let mut world = World::new(seed);
    let rounds = rounds(count, &mut Chance::new(seed));
    let began = std::time::Instant::now();
    for (number, (kind, power)) in rounds.into_iter().enumerate() {
        if std::env::var_os("DOORBELL_ROUNDS").is_some() {
            eprintln!("round {number} {kind:?} {power:?} at {:?}", began.elapsed());
        }
        world.round(kind, power);
    }
    let order = world.finish();
    judge::judge(&world, &order);
    assert_eq!(world.house.bell.stop(), 0);
    ledger::left(world.house.bell.home().path());
    eprintln!("{}", world.tally.table());
    assert!(world.known.count() >= count, "there was hardly any load");
}
