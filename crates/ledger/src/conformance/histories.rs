//! Random histories: the same steps against a store and the model, every answer compared.
//!
//! `PROPTEST_CASES=5000 cargo test -p doorbell-ledger histories` looks longer.

mod player;
mod steps;

use proptest::test_runner::{Config, TestRunner};
use tokio::runtime::Builder;

use super::scene::Subject;
use player::Player;

/// Histories in an ordinary run of the tests.
const CASES: u32 = 48;
/// Those on a server, where every step is a few messages.
const CASES_ON_SERVER: u32 = 12;

/// Where the store is that is compared with the model.
#[derive(Debug, Clone, Copy)]
enum Where {
    Disk,
    Server,
    Pooler,
}

impl Where {
    async fn subject(self) -> Subject {
        match self {
            Where::Disk => Subject::on_disk().await,
            Where::Server => Subject::on_server().await,
            Where::Pooler => Subject::behind_a_pooler().await,
        }
    }
}

fn compare(place: Where, cases: u32) {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let cases = std::env::var("PROPTEST_CASES").map_or(cases, |n| n.parse().unwrap());
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&steps::history(), |steps| {
        runtime.block_on(async {
            let mut player = Player::new(place.subject().await).await;
            for step in steps {
                player.play(step).await?;
            }
            player.compare_everything().await?;
            player.end().await;
            Ok(())
        })
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

#[test]
fn random_histories_are_the_same_on_disk() {
    compare(Where::Disk, CASES);
}

#[test]
fn random_histories_are_the_same_on_a_server() {
    compare(Where::Server, CASES_ON_SERVER);
}

#[test]
fn random_histories_are_the_same_behind_a_pooler() {
    compare(Where::Pooler, CASES_ON_SERVER / 3);
}
