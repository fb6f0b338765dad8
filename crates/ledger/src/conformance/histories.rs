//! Random histories: the same steps against the SQLite store and the model, every answer compared.
//!
//! `PROPTEST_CASES=5000 cargo test -p doorbell-ledger histories` looks longer.

mod player;
mod steps;

use proptest::test_runner::{Config, TestRunner};
use tokio::runtime::Builder;

use player::Player;

/// Histories in an ordinary run of the tests.
const CASES: u32 = 48;

#[test]
fn random_histories_are_the_same_in_both_stores() {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
    let cases = std::env::var("PROPTEST_CASES").map_or(CASES, |n| n.parse().unwrap());
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&steps::history(), |steps| {
        runtime.block_on(async {
            let mut player = Player::new().await;
            for step in steps {
                player.play(step).await?;
            }
            player.compare_everything().await
        })
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
