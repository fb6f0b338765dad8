//! A database for one test.

use std::fs::File;

use rustix::fs::{FlockOperation, flock};
use tokio_postgres::NoTls;

use crate::Cluster;

/// Empties a database, whatever the test before has left in it.
const CLEAN: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid();
     DO $$ DECLARE name text; BEGIN
         FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname NOT IN ('public', 'information_schema')
         LOOP EXECUTE format('DROP SCHEMA %I CASCADE', name); END LOOP;
     END $$";

/// An empty database. It is lent: making one takes far longer than emptying one, so that the next test gets it again.
#[derive(Debug)]
pub struct Database {
    name: String,
    /// Held for as long as the database is lent.
    _lent: File,
}

impl Database {
    /// Takes one that nobody uses, starting the cluster when it does not run yet. Blocks the thread.
    pub fn create() -> Database {
        let folder = Cluster::shared().databases();
        std::fs::create_dir_all(&folder).expect("a folder for locks");
        let mut number = 0;
        let (name, lent) = loop {
            let name = format!("test_{number}");
            let options = File::options().create(true).truncate(false).write(true).to_owned();
            let file = options.open(folder.join(&name)).expect("a lock file");
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
                break (name, file);
            }
            number += 1;
        };
        if run_in("postgres", &format!("SELECT 1 FROM pg_database WHERE datname = '{name}'")).is_empty() {
            run_in("postgres", &format!("CREATE DATABASE {name}"));
        }
        run_in(&name, CLEAN);
        Database { name, _lent: lent }
    }

    /// Its URL.
    pub fn url(&self) -> String {
        Cluster::shared().url(&self.name)
    }

    /// Its URL by way of PgBouncer.
    pub fn bouncer_url(&self) -> String {
        Cluster::shared().bouncer_url(&self.name)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs statements in it and answers the first column of their rows, as text. Blocks the thread.
    pub fn run(&self, sql: &str) -> Vec<String> {
        run_in(&self.name, sql)
    }
}

fn run_in(database: &str, sql: &str) -> Vec<String> {
    run(&Cluster::shared().url(database), sql)
}

/// Runs statements on a thread of its own, so that it may be called from within a runtime.
pub(crate) fn run(url: &str, sql: &str) -> Vec<String> {
    std::thread::scope(|scope| scope.spawn(|| talk(url, sql)).join()).expect("statements of a test")
}

fn talk(url: &str, sql: &str) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a connection");
        let connection = tokio::spawn(connection);
        let answer = client.simple_query(sql).await;
        drop(client);
        let _ = connection.await;
        let messages = answer.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        let text = |message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
            _ => None,
        };
        messages.into_iter().filter_map(text).collect()
    })
}
