//! The ledger of a configuration, opened.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use config::{Config, Durability};
use ledger::Ledger;
use ledger::sqlite;

/// How long the owner of the ledger may take to let go of it: a command, or a gateway that is stopping.
const PATIENCE: Duration = Duration::from_secs(3);

/// Opens the ledger. The error is a [`ledger::sqlite::OpenError`] when it cannot be had.
pub(crate) async fn open(home: &Path, config: &Config) -> anyhow::Result<Arc<dyn Ledger>> {
    let options = sqlite::Options {
        home: home.to_owned(),
        path: config.store.path.clone(),
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
