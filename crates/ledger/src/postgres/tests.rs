//! What is special to PostgreSQL: several nodes, lost connections, poolers, plans.

use scratch_postgres::Database;

use super::{Options, Store};

async fn open(database: &Database) -> Store {
    Store::connect(&database.url(), &Options::default()).await.unwrap()
}
