//! Numbered migrations, forward only, one node at a time.

use super::link::{Kind, Link};
use super::{Failure, Tx};
use crate::Error;
use crate::migrate::UNFINISHED;
use crate::schema::may_use;

/// Each step's SQL; its place is its number, from 1.
const STEPS: &[&str] = &[include_str!("../migrations/postgres/0001_first.sql")];

/// The least that one must know of them to use a database that has them all.
const MIN_READER: i64 = 1;

/// Brings a database to this version's schema. One of a later version is refused.
pub(super) async fn migrate(link: &Link) -> Result<(), Error> {
    let tx = link.begin(Kind::Durable).await?;
    let outcome = bring_up(&tx).await;
    Ok(tx.end(outcome).await?)
}

async fn bring_up(tx: &Tx) -> Result<(), Failure> {
    tx.batch("SELECT pg_advisory_xact_lock(7305808869231650672)").await?;
    // Asked first: who runs the gateway need not have the right to make schemas.
    let there = tx.optional("SELECT FROM pg_namespace WHERE nspname = 'doorbell'", &[]).await?.is_some();
    if !there {
        tx.batch("CREATE SCHEMA doorbell").await?;
    }
    tx.batch(
        "CREATE TABLE IF NOT EXISTS meta (name text PRIMARY KEY, value bigint NOT NULL);
         INSERT INTO meta VALUES ('schema', 0) ON CONFLICT DO NOTHING;",
    )
    .await?;
    let sql =
        "SELECT (SELECT value FROM meta WHERE name = 'schema'), (SELECT value FROM meta WHERE name = 'min_reader')";
    let facts = tx.one(sql, &[]).await?;
    let have: i64 = facts.get(0);
    may_use(have, facts.get(1), STEPS.len())?;
    let have = usize::try_from(have).unwrap_or(usize::MAX);
    for step in STEPS.iter().skip(have) {
        tx.batch(step).await?;
    }
    if have < STEPS.len() {
        let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
        let sql = "INSERT INTO meta VALUES ('schema', $1), ('min_reader', $2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        tx.execute(sql, &[known.into(), MIN_READER.into()]).await?;
    }
    Ok(())
}

/// Refuses a database that is an unfinished copy of another ledger.
pub(super) async fn refuse_unfinished(tx: &Tx) -> Result<(), Failure> {
    let unfinished = tx.one("SELECT to_regclass('doorbell.migration') IS NOT NULL", &[]).await?;
    if unfinished.get(0) { Err(Failure::Told(Error::Unavailable(UNFINISHED.into()))) } else { Ok(()) }
}
