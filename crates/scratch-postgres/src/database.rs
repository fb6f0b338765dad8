//! A database for one test.

use std::sync::atomic::{AtomicU32, Ordering};

use tokio_postgres::NoTls;

use crate::Cluster;

/// An empty database of its own; dropped with the value.
#[derive(Debug)]
pub struct Database {
    name: String,
}

impl Database {
    /// Makes one, starting the cluster when it does not run yet. Blocks the thread.
    pub fn create() -> Database {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}", std::process::id());
        run("postgres", &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
        run("postgres", &format!("CREATE DATABASE {name}"));
        Database { name }
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

    /// Runs statements in it. Blocks the thread.
    pub fn run(&self, sql: &str) {
        run(&self.name, sql);
    }

    /// The first column of a query's rows, as text. Blocks the thread.
    pub fn column(&self, sql: &str) -> Vec<String> {
        run(&self.name, sql)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        run("postgres", &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
    }
}

/// Runs statements on a thread of its own, so that it may be called from within a runtime and from a drop.
fn run(database: &str, sql: &str) -> Vec<String> {
    let url = Cluster::shared().url(database);
    std::thread::scope(|scope| scope.spawn(|| talk(&url, sql)).join()).expect("statements of a test")
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
