use rusqlite::Connection;
use scratch_postgres::Database;

use super::table::{Row, TABLES, Table, bytes_of};
use super::{At, BATCH_BYTES, BATCH_ROWS, Side, copy, database, file};
use crate::{Admission, EventQuery, Key, Ledger as _, NewEvent, StoredRequest, postgres, sqlite};

/// Tables that are left out on purpose.
const LEFT_OUT: [&str; 3] = ["counters", "meta", "nodes"];

fn listed() -> Vec<String> {
    let mut all: Vec<String> = TABLES
        .iter()
        .flat_map(|table| table.columns.iter().map(move |(column, _)| format!("{}.{column}", table.name)))
        .collect();
    all.sort();
    all
}

#[test]
fn no_column_of_a_file_is_forgotten() {
    let home = tempfile::tempdir().unwrap();
    let options = options(home.path());
    drop(sqlite::Store::open(&options).unwrap());
    let connection = Connection::open(options.path).unwrap();
    let sql = "SELECT m.name || '.' || c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
               WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY 1";
    let mut statement = connection.prepare(sql).unwrap();
    let there: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let there: Vec<String> = there.into_iter().filter(|name| !is_left_out(name)).collect();
    assert_eq!(there, listed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_column_of_a_database_is_forgotten() {
    let database = Database::create();
    postgres::Store::connect(&database.url(), &postgres::Options::default()).await.unwrap();
    let sql = "SELECT (table_name || '.' || column_name) COLLATE \"C\" AS name FROM information_schema.columns
               WHERE table_schema = 'doorbell' ORDER BY 1";
    let there: Vec<String> = database.run(sql).into_iter().filter(|name| !is_left_out(name)).collect();
    assert_eq!(there, listed());
}

fn is_left_out(name: &str) -> bool {
    LEFT_OUT.iter().any(|table| name.split('.').next() == Some(table))
}

fn options(home: &std::path::Path) -> sqlite::Options {
    sqlite::Options {
        home: home.to_owned(),
        path: home.join("doorbell.db"),
        durability: sqlite::Durability::Full,
        min_free: 0,
        patience: std::time::Duration::ZERO,
    }
}

fn admission(id: &str, text: &str, body: Vec<u8>) -> Admission {
    let event = NewEvent {
        id: id.into(),
        route: "r".into(),
        source: "github".into(),
        event_type: "push".into(),
        delivery_id: text.into(),
        line: Some(text.into()),
        priority: 0,
        hop: 0,
        due_at: None,
        received_at: 1_790_000_000_000,
        request: StoredRequest { headers: vec![("x".into(), text.into())], body },
    };
    let key = Some(Key { text: text.into(), window: std::time::Duration::from_hours(1) });
    Admission { event, key, rate_per_minute: 0 }
}

/// Bytes that do not compress.
fn noise(seed: u8, length: usize) -> Vec<u8> {
    let mut state = u32::from(seed) + 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[1]
    };
    (0..length).map(|_| next()).collect()
}

fn batches(side: &mut dyn Side, table: &Table) -> Vec<Vec<Row>> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let rows = side.read(table, after.as_ref()).unwrap();
        let Some(last) = rows.last() else { return all };
        after = Some(table.key_of(last));
        all.push(rows);
    }
}

/// A copy from a file into a database, off the threads of the test's runtime.
async fn copied(home: &std::path::Path, database: &Database) {
    let from = At::File { home: home.to_owned(), path: home.join("doorbell.db") };
    let to = At::Database { url: database.url(), shown: "the database".into() };
    tokio::task::spawn_blocking(move || copy(&from, &to, &mut |_, _| {}).map(drop)).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_is_bounded_by_rows_and_by_bytes() {
    const LARGE: usize = 1 << 20;
    let (home, database) = (tempfile::tempdir().unwrap(), Database::create());
    let store = sqlite::Store::open(&options(home.path())).unwrap();
    for number in 0..14 {
        let text = format!("d{number}");
        store.admit(admission(&format!("ev_{number}"), &text, noise(number, LARGE))).await.unwrap();
    }
    store.close().await;
    let connection = Connection::open(home.path().join("doorbell.db")).unwrap();
    let many = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 2500)
        INSERT INTO pauses SELECT 'p' || n, n FROM n";
    connection.execute_batch(many).unwrap();
    drop(connection);
    copied(home.path(), &database).await;
    let (url, path) = (database.url(), home.path().to_owned());
    tokio::task::spawn_blocking(move || {
        let file = file::File::source(&path, &path.join("doorbell.db")).unwrap().unwrap();
        let database = database::Database::source(&url).unwrap().unwrap();
        for mut side in [Box::new(file) as Box<dyn Side>, Box::new(database)] {
            for table in &TABLES {
                for batch in batches(&mut *side, table) {
                    let bytes: usize = batch.iter().map(bytes_of).sum();
                    let last = batch.last().map_or(0, bytes_of);
                    assert!(batch.len() <= BATCH_ROWS && bytes - last < BATCH_BYTES, "{} {bytes}", table.name);
                }
            }
            let rows = |name: &str| {
                let table = TABLES.iter().find(|table| table.name == name).unwrap();
                batches(&mut *side, table).iter().map(Vec::len).collect::<Vec<_>>()
            };
            let mut rows = rows;
            assert_eq!(rows("pauses"), [1000, 1000, 500]);
            assert_eq!(rows("requests"), [4, 4, 4, 2], "a MiB each");
        }
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_with_nul_goes_as_the_database_would_have_taken_it() {
    let (home, database) = (tempfile::tempdir().unwrap(), Database::create());
    let store = sqlite::Store::open(&options(home.path())).unwrap();
    let text = "a\0b";
    store.admit(admission("ev_1", text, b"\0".to_vec())).await.unwrap();
    store.close().await;
    copied(home.path(), &database).await;
    let store = postgres::Store::connect(&database.url(), &postgres::Options::default()).await.unwrap();
    let duplicate = store.admit(admission("ev_2", text, Vec::new())).await.unwrap();
    assert!(matches!(duplicate, crate::Admitted::Duplicate { .. }), "{duplicate:?}");
    let event = store.events(EventQuery { limit: 10, ..EventQuery::default() }).await.unwrap().items.remove(0);
    assert_eq!(event.delivery_id, "a\u{2400}b");
    // Headers are JSON, which has a way to write it.
    let request = store.request("ev_1").await.unwrap();
    assert_eq!((&*request.body, &*request.headers[0].1), (&b"\0"[..], text));
    store.close().await;
}
