//! Reading the configuration again while the gateway works: as a whole or not at all.

use std::collections::BTreeMap;
use std::sync::Arc;

use config::{Config, Place, Problem, Problems};

use crate::Core;
use crate::listen::Certificate;

/// Reads the configuration again when asked.
pub struct Reloader {
    core: Arc<Core>,
    place: Place,
    environment: BTreeMap<String, String>,
    certificates: Vec<Arc<Certificate>>,
    /// A signal and a request at the same moment take turns: the later one reads the later files.
    turn: tokio::sync::Mutex<()>,
}

/// Why the running configuration stays.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    /// The files have problems.
    #[error("{0}")]
    Problems(Problems),
    /// A certificate cannot be read.
    #[error("cannot read a certificate again: {0}")]
    Certificate(std::io::Error),
    /// The ledger did not settle what waits for routes that came or went; the new configuration is in force.
    #[error("{0}")]
    Ledger(#[from] ledger::Error),
}

impl Reloader {
    /// A reloader for what was read from `place` with this environment.
    pub fn new(
        core: Arc<Core>,
        place: Place,
        environment: BTreeMap<String, String>,
        certificates: Vec<Arc<Certificate>>,
    ) -> Reloader {
        Reloader { core, place, environment, certificates, turn: tokio::sync::Mutex::default() }
    }

    /// Puts the files as they are now in force, and answers what in them may not be meant or needs a restart.
    pub async fn reload(&self) -> Result<Vec<String>, ReloadError> {
        let _turn = self.turn.lock().await;
        let config = config::load(&self.place, &self.environment).map_err(ReloadError::Problems)?;
        for certificate in &self.certificates {
            certificate.reload().await.map_err(ReloadError::Certificate)?;
        }
        let mut notes: Vec<String> = config.warnings.iter().map(Problem::to_string).collect();
        notes.extend(needs_restart(&self.core.config(), &config));
        self.core.reconfigure(config).await?;
        for note in &notes {
            tracing::warn!("{note}");
        }
        tracing::info!("configuration reloaded");
        Ok(notes)
    }
}

/// What a running gateway cannot change.
fn needs_restart(old: &Config, new: &Config) -> Vec<String> {
    let changed = [
        ("server.host, port and tls", old.server.listen != new.server.listen),
        ("server.max_connections and header_timeout", {
            old.server.max_connections != new.server.max_connections
                || old.server.header_timeout != new.server.header_timeout
        }),
        (
            "admin",
            old.admin.listen != new.admin.listen
                || old.admin.open != new.admin.open
                || old.admin.token != new.admin.token,
        ),
        ("store", old.store != new.store),
    ];
    let names = changed.into_iter().filter(|(_, changed)| *changed).map(|(name, _)| name);
    names.map(|name| format!("{name}: changed in the file; needs a restart")).collect()
}
