//! What becomes of the room of events that were removed.

use std::sync::Arc;

use rules::states::EventState;
use tempfile::tempdir;

use super::{T0, fill, open};
use crate::Ledger as _;

const MIB: u64 = 1 << 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_room_of_removed_events_goes_back_to_the_disk_little_by_little() {
    let home = tempdir().unwrap();
    let store = Arc::new(open(home.path()));
    assert_eq!(fill(&store, "old", 160).await, (160, None));
    assert!(!store.give_back().await.unwrap(), "nothing was removed yet");
    for number in 0..152 {
        store.cancel_event(&format!("ev_old{number}"), "cancelled", T0).await.unwrap();
    }
    assert_eq!(store.prune(EventState::Cancelled, T0 + 1, 200).await.unwrap(), 152);
    let mut bites = 0;
    while store.give_back().await.unwrap() {
        bites += 1;
    }
    assert!(bites > 50, "{bites} bites: one holds up what comes meanwhile");
    assert_eq!(fill(&store, "new", 8).await, (8, None));
    store.close().await;
    let size = std::fs::metadata(home.path().join("doorbell.db")).unwrap().len();
    assert!(size < 24 * MIB, "the file has {} MiB after 40 were written and nearly all removed", size / MIB);
    let store = open(home.path());
    assert_eq!(store.status().await.unwrap().events[&EventState::Queued], 16);
    store.close().await;
}
