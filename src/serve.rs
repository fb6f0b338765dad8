//! The gateway: wires all stages, waits for signals, and stops them in order.

mod files;
mod home;
mod shutdown;
mod start;

use std::collections::BTreeMap;
use std::sync::Arc;

use config::Place;
use gateway::reload::Reloader;
use tokio::signal::unix::{SignalKind, signal};

pub(crate) use home::{admin_url_file, prepare as prepare_home};

/// What `serve` is told.
pub(crate) struct Options {
    pub(crate) place: Place,
    pub(crate) environment: BTreeMap<String, String>,
}

/// Serves until a signal. The error says why it could not start.
pub(crate) async fn serve(options: Options) -> anyhow::Result<()> {
    // A write beyond the file-size limit (`ulimit -f`) ends a process unless it catches this; caught, the write is an error.
    let _beyond_limit = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?;
    let parts = start::start(options).await?;
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Ready]);
    until_stopped(&parts.reloader).await?;
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Stopping]);
    shutdown::in_order(parts).await;
    Ok(())
}

/// Waits for SIGTERM or SIGINT; SIGHUP reads the configuration again. From the first of these on, a second one ends the
/// process at once: the ledger has everything that was acknowledged, and wardens end their agents by themselves.
async fn until_stopped(reloader: &Arc<Reloader>) -> std::io::Result<()> {
    let mut term = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    loop {
        tokio::select! {
            _ = term.recv() => break,
            _ = interrupt.recv() => break,
            _ = hang_up.recv() => {
                if let Err(error) = reloader.reload().await {
                    tracing::error!("the configuration was not reloaded, the running one stays:\n{error}");
                }
            }
        }
    }
    tracing::info!("stopping: no further requests are taken; a second signal ends at once");
    tokio::spawn(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::warn!("stopped at once; what was running runs again at the next start");
        std::process::exit(0);
    });
    Ok(())
}
