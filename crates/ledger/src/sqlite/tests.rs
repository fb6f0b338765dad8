//! What is special to SQLite: its plans, its files, and what happens when it cannot write.

mod files;
mod log;
mod plans;
mod writing;

use std::path::Path;
use std::time::Duration;

use rules::states::EventState;

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
