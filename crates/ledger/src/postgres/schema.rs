//! Numbered migrations, forward only, one node at a time.

use super::link::{Kind, Link};
use super::{Failure, Tx};
use crate::Error;
use crate::migrate::UNFINISHED;

/// Each step's SQL; its place is its number, from 1.
const STEPS: &[&str] = &[include_str!("../migrations/postgres/0001_first.sql")];

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
    let have: i64 = tx.one("SELECT value FROM meta WHERE name = 'schema'", &[]).await?.get(0);
    let have = usize::try_from(have).unwrap_or(usize::MAX);
    if have > STEPS.len() {
        return Err(Failure::Told(Error::Unavailable(format!(
            "the ledger has schema {have}, this doorbell knows {}; run the newer doorbell that wrote it",
            STEPS.len()
        ))));
    }
    for step in &STEPS[have..] {
        tx.batch(step).await?;
    }
    if have < STEPS.len() {
        let known = i64::try_from(STEPS.len()).unwrap_or(i64::MAX);
        tx.execute("UPDATE meta SET value = $1 WHERE name = 'schema'", &[known.into()]).await?;
    }
    Ok(())
}

/// Refuses a database that is an unfinished copy of another ledger.
pub(super) async fn refuse_unfinished(tx: &Tx) -> Result<(), Failure> {
    let unfinished = tx.one("SELECT to_regclass('doorbell.migration') IS NOT NULL", &[]).await?;
    if unfinished.get(0) { Err(Failure::Told(Error::Unavailable(UNFINISHED.into()))) } else { Ok(()) }
}
