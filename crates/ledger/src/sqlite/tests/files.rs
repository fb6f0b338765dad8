//! The files of a ledger: who may read them, who may open them, and which are refused.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use tempfile::tempdir;

use super::{admit, open, options};
use crate::sqlite::{LockError, OpenError, Options, Store};
use crate::{Error, EventQuery, Ledger as _};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Why a home is not opened.
fn refusal(home: &Path) -> String {
    match Store::open(&options(home)) {
        Ok(_) => panic!("{} was opened", home.display()),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn files_are_for_their_owner_only() {
    let home = tempdir().unwrap();
    let store = open(home.path());
    admit(&store, "ev_1").await.unwrap();
    store.status().await.unwrap();
    for name in ["doorbell.db", "doorbell.db-wal", "doorbell.db-shm", "doorbell.lock"] {
        assert_eq!(mode(&home.path().join(name)), 0o600, "{name}");
    }
    store.close().await;
}

#[tokio::test]
async fn the_file_is_set_up_for_one_writer_and_for_shrinking() {
    let home = tempdir().unwrap();
    let store = open(home.path());
    admit(&store, "ev_1").await.unwrap();
    store.close().await;
    let raw = Connection::open(home.path().join("doorbell.db")).unwrap();
    let number = |pragma| raw.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!((number("page_size"), number("auto_vacuum")), (4096, 2));
    let mode: String = raw.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

#[tokio::test]
async fn a_home_has_one_owner() {
    let home = tempdir().unwrap();
    let store = open(home.path());
    let impatient = Options { patience: Duration::from_millis(60), ..options(home.path()) };
    let before = std::time::Instant::now();
    let Err(OpenError::Lock(error @ LockError::Held { .. })) = Store::open(&impatient) else {
        panic!("a second owner got in");
    };
    assert!(before.elapsed() >= Duration::from_millis(60), "it waits for as long as it was told");
    let text = error.to_string();
    assert!(text.contains("doorbell.lock") && text.contains("--home"), "{text}");
    store.close().await;
    // Closed is free, though the value is still there; so is dropped without a word, once its thread has ended.
    let second = open(home.path());
    admit(&second, "ev_1").await.unwrap();
    drop(second);
    let patient = Options { patience: Duration::from_secs(30), ..options(home.path()) };
    let third = Store::open(&patient).unwrap();
    assert_eq!(third.event("ev_1").await.unwrap().id, "ev_1");
    third.close().await;
    drop(store);
}

#[tokio::test]
async fn two_homes_do_not_share_a_database() {
    let (one, other, shared) = (tempdir().unwrap(), tempdir().unwrap(), tempdir().unwrap());
    let path = shared.path().join("shared.db");
    let at = |home: &Path| Options { path: path.clone(), ..options(home) };
    let store = Store::open(&at(one.path())).unwrap();
    assert!(
        matches!(Store::open(&at(other.path())), Err(OpenError::Lock(LockError::Held { path })) if path.ends_with("shared.lock"))
    );
    store.close().await;
    Store::open(&at(other.path())).unwrap().close().await;
}

#[tokio::test]
async fn a_schema_of_the_future_is_refused() {
    let home = tempdir().unwrap();
    let store = open(home.path());
    admit(&store, "ev_1").await.unwrap();
    store.close().await;
    let path = home.path().join("doorbell.db");
    let raw = Connection::open(&path).unwrap();
    let have: i64 = raw.query_row("SELECT value FROM meta WHERE name = 'schema'", [], |row| row.get(0)).unwrap();
    raw.execute("UPDATE meta SET value = 99 WHERE name IN ('schema', 'min_reader')", []).unwrap();
    let refusal = refusal(home.path());
    for part in [path.to_str().unwrap(), "schema 99", &format!("knows {have}"), "newer doorbell"] {
        assert!(refusal.contains(part), "{part:?} is not in {refusal:?}");
    }
    // Nothing was done to it: with its own number back it opens.
    raw.execute("UPDATE meta SET value = ?1 WHERE name = 'min_reader'", [have]).unwrap();
    // A later one that says that we may use it is used, and keeps its number.
    open(home.path()).close().await;
    let later: i64 = raw.query_row("SELECT value FROM meta WHERE name = 'schema'", [], |row| row.get(0)).unwrap();
    assert_eq!(later, 99);
    raw.execute("UPDATE meta SET value = ?1 WHERE name = 'schema'", [have]).unwrap();
    drop(raw);
    let store = open(home.path());
    store.event("ev_1").await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused() {
    let home = tempdir().unwrap();
    let path = home.path().join("doorbell.db");
    let garbage = b"this is somebody's diary\n".repeat(400);
    std::fs::write(&path, &garbage).unwrap();
    let refusal = refusal(home.path());
    assert!(refusal.contains(path.to_str().unwrap()) && refusal.contains("not a database"), "{refusal}");
    assert_eq!(std::fs::read(&path).unwrap(), garbage, "it is left as it is");
}

#[tokio::test]
async fn a_truncated_database_is_refused() {
    let home = tempdir().unwrap();
    let store = open(home.path());
    for number in 0..20 {
        admit(&store, &format!("ev_{number}")).await.unwrap();
    }
    store.close().await;
    let path = home.path().join("doorbell.db");
    let whole = std::fs::read(&path).unwrap();
    for left in [whole.len() / 2, 4096, 1000] {
        std::fs::write(&path, &whole[..left]).unwrap();
        let refusal = refusal(home.path());
        assert!(refusal.contains(path.to_str().unwrap()), "{refusal}");
        assert!(refusal.contains("malformed") || refusal.contains("not a database"), "{left}: {refusal}");
    }
    std::fs::write(&path, &whole).unwrap();
    let store = open(home.path());
    store.event("ev_19").await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn a_home_that_is_not_there_is_named() {
    let home = tempdir().unwrap();
    let refusal = refusal(&home.path().join("nowhere"));
    assert!(refusal.contains("nowhere/doorbell.lock"), "{refusal}");
}

#[tokio::test]
async fn what_was_answered_is_in_a_copy_of_the_files() {
    let (home, copy) = (tempdir().unwrap(), tempdir().unwrap());
    let store = open(home.path());
    for number in 0..30 {
        let id = format!("ev_{number}");
        admit(&store, &id).await.unwrap();
        if number % 10 != 0 {
            continue;
        }
        // What a kill would leave: the files as they are at this moment. The copy is opened by itself.
        for name in ["doorbell.db", "doorbell.db-wal"] {
            std::fs::copy(home.path().join(name), copy.path().join(name)).unwrap();
        }
        let revived = open(copy.path());
        assert_eq!(revived.event(&id).await.unwrap().id, id);
        let page = revived.events(EventQuery { limit: 100, ..EventQuery::default() }).await.unwrap();
        assert_eq!(page.items.len(), number + 1);
        revived.close().await;
        std::fs::remove_file(copy.path().join("doorbell.db")).unwrap();
    }
    store.close().await;
    assert_eq!(store.event("ev_1").await.unwrap_err(), Error::Closed);
}
