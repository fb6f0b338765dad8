//! What is special to SQLite: its plans, its files, and what happens when it cannot write.

mod files;
mod log;
mod plans;
mod room;
mod upgrade;
mod writing;

use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rules::states::EventState;
use tokio::task::JoinSet;

use super::{Durability, Options, Store};
use crate::{Admission, Admitted, Error, Ledger as _, NewEvent, StoredRequest};

/// A time.
const T0: i64 = 1_790_000_000_000;

fn options(home: &Path) -> Options {
    Options {
        home: home.to_owned(),
        path: home.join("doorbell.db"),
        durability: Durability::Full,
        min_free: 0,
        patience: Duration::ZERO,
    }
}

fn open(home: &Path) -> Store {
    Store::open(&options(home)).unwrap()
}

fn admission(id: &str, body: Vec<u8>) -> Admission {
    let event = NewEvent {
        id: id.into(),
        route: "r".into(),
        source: "github".into(),
        event_type: "push".into(),
        delivery_id: id.into(),
        line: None,
        priority: 0,
        hop: 0,
        due_at: None,
        received_at: T0,
        request: StoredRequest { headers: Vec::new(), body },
    };
    Admission { event, key: None, rate_per_minute: 0 }
}

async fn admit(store: &Store, id: &str) -> Result<(), Error> {
    let admitted = store.admit(admission(id, Vec::new())).await?;
    assert_eq!(admitted, Admitted::Stored { state: EventState::Queued });
    Ok(())
}

/// 256 KiB that do not compress.
fn noise(number: u32) -> Vec<u8> {
    static NOISE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let mut state = 1_u32;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state.to_le_bytes()[1]
        };
        (0..256 << 10).map(|_| next()).collect()
    });
    let mut bytes = NOISE.clone();
    bytes[..4].copy_from_slice(&number.to_le_bytes());
    bytes
}

/// Admits events of 256 KiB, eight at a time, until `count` were taken or one is refused; how many were taken.
async fn fill(store: &Arc<Store>, prefix: &str, count: u32) -> (u32, Option<Error>) {
    let mut taken = 0;
    for first in (0..count).step_by(8) {
        let mut admissions = JoinSet::new();
        for number in first..first + 8 {
            let (store, id) = (Arc::clone(store), format!("ev_{prefix}{number}"));
            admissions.spawn(async move { store.admit(admission(&id, noise(number))).await });
        }
        let mut refused = None;
        for answer in admissions.join_all().await {
            match answer {
                Ok(_) => taken += 1,
                Err(error) => refused = Some(error),
            }
        }
        if refused.is_some() {
            return (taken, refused);
        }
    }
    (taken, None)
}
