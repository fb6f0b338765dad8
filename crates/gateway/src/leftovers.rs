//! Files of jobs that nobody will ask for any more.
//!
//! A run's files are removed with the run. But a power cut can make the ledger forget that a run was begun, which only means that
//! its event runs again, while the run's lock and its prompt are in their folder.

use std::collections::HashSet;
use std::path::Path;

use ledger::Inheritance;

use crate::{Core, process};

/// Removes the files of all jobs but those that an earlier life left in flight, which are on record as orphans or `inherited`. To be
/// called before any is begun.
pub async fn remove(core: &Core, inherited: &Inheritance) -> Result<(), ledger::Error> {
    let runs = core.ledger.orphan_runs(core.boot()).await?.into_iter().map(|run| run.run_id);
    let deliveries = core.ledger.stuck_deliveries(core.boot()).await?.into_iter().map(|delivery| delivery.id);
    let own = inherited.runs.iter().map(|run| run.run_id.clone());
    let own = own.chain(inherited.deliveries.iter().map(|delivery| delivery.id.clone()));
    let in_flight: HashSet<String> = runs.chain(deliveries).chain(own).collect();
    let Ok(entries) = std::fs::read_dir(core.runs_folder()) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let job = name.to_str().and_then(|name| name.split('.').next()).unwrap_or_default();
        if !in_flight.contains(job) {
            remove_one(&entry.path());
        }
    }
    Ok(())
}

fn remove_one(path: &Path) {
    match process::remove_unless_held(path) {
        Ok(true) => tracing::info!(path = %path.display(), "removed a file of a job that is not on record"),
        Ok(false) => tracing::warn!(path = %path.display(), "a job that is not on record still runs"),
        Err(error) => tracing::warn!(path = %path.display(), %error, "a file of a job cannot be removed"),
    }
}
