use rusqlite::Connection;
use scratch_postgres::Database;

use super::table::TABLES;
use crate::{postgres, sqlite};

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
    let options = sqlite::Options {
        home: home.path().to_owned(),
        path: home.path().join("doorbell.db"),
        durability: sqlite::Durability::Full,
        min_free: 0,
        patience: std::time::Duration::ZERO,
    };
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
