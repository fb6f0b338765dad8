//! The ledger of a configuration, opened.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use config::{Config, DatabaseUrl, Durability, Shelf};
use ledger::postgres::ConnectError;
use ledger::sqlite::Lock;
use ledger::{Ledger, postgres, sqlite};
use tokio::time::{Instant, sleep};

/// How long the owner of the ledger may take to let go of it: a command, or a gateway that is stopping.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long a gateway that starts waits for a database that cannot be reached: machines start in any order. Longer is for
/// whoever starts the gateway again, and the error is on record.
const STARTING: Duration = Duration::from_secs(10);
/// Between two tries.
const TRY_AGAIN: Duration = Duration::from_millis(500);

/// Opens the ledger for one operation. The error is a [`ledger::sqlite::OpenError`] when a file cannot be had; a database is
/// shared, and nobody has to let go of it.
pub(crate) async fn open(home: &Path, config: &Config) -> anyhow::Result<Arc<dyn Ledger>> {
    match &config.store.at {
        Shelf::File(path) => file(home, path, config).await,
        Shelf::Database(url) => database(url, Duration::ZERO).await,
    }
}

/// Opens the ledger for a gateway, which is the only one of its home, whatever its ledger is: the lock is for as long as it
/// serves. A ledger in a file has it itself.
pub(crate) async fn own(home: &Path, config: &Config) -> anyhow::Result<(Arc<dyn Ledger>, Option<Lock>)> {
    let Shelf::Database(url) = &config.store.at else { return Ok((open(home, config).await?, None)) };
    let path = home.join("doorbell.lock");
    let lock = tokio::task::spawn_blocking(move || Lock::take(&path, PATIENCE)).await??;
    Ok((database(url, STARTING).await?, Some(lock)))
}

async fn file(home: &Path, path: &Path, config: &Config) -> anyhow::Result<Arc<dyn Ledger>> {
    let options = sqlite::Options {
        home: home.to_owned(),
        path: path.to_owned(),
        durability: match config.store.durability {
            Durability::Full => sqlite::Durability::Full,
            Durability::Normal => sqlite::Durability::Normal,
        },
        min_free: config.store.min_free,
        patience: PATIENCE,
    };
    let store = tokio::task::spawn_blocking(move || sqlite::Store::open(&options)).await??;
    Ok(Arc::new(store))
}

async fn database(url: &DatabaseUrl, patience: Duration) -> anyhow::Result<Arc<dyn Ledger>> {
    let end = Instant::now() + patience;
    let mut said = false;
    loop {
        let error = match postgres::Store::connect(url.expose(), &postgres::Options::default()).await {
            Ok(store) => return Ok(Arc::new(store)),
            Err(error) => error,
        };
        // What is wrong with the URL, a password or a right does not pass by itself.
        let away = matches!(error, ConnectError::Database(ledger::Error::Away(_)));
        if !away || Instant::now() >= end {
            let remedy =
                if away { "is it running, and is the address in store.url right?" } else { "look at store.url" };
            return Err(error).with_context(|| format!("cannot use the ledger at {url} ({remedy})"));
        }
        if !said {
            tracing::warn!(%error, "no ledger at {url} yet; trying for {} s", patience.as_secs());
            said = true;
        }
        sleep(TRY_AGAIN).await;
    }
}
