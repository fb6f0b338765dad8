//! The gateway: wires all stages, waits for signals, and stops them in order.

mod files;
mod home;
mod shutdown;
mod start;

use std::collections::BTreeMap;
use std::sync::Arc;

use config::Place;
use gateway::broken::Broken;
use gateway::reload::Reloader;
use tokio::signal::unix::{Signal, SignalKind, signal};

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
    // Caught before anybody is told that it is ready: whoever was told may ask for the stop at once.
    let mut signals = Signals::new()?;
    let parts = tokio::select! {
        biased;
        parts = start::start(options) => parts?,
        () = signals.stop() => {
            // What a start has done by then is what a crash would leave, and the next one goes on from there.
            tracing::info!("stopped before it was ready");
            std::process::exit(0);
        }
    };
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Ready]);
    let whole = until_stopped(signals, &parts.reloader, &parts.core.broken).await;
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Stopping]);
    shutdown::in_order(parts).await;
    anyhow::ensure!(
        whole,
        "a part of the gateway broke off, the log says which; start it again: nothing acknowledged is lost"
    );
    Ok(())
}

/// The signals that a gateway goes by.
struct Signals {
    term: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Signals> {
        Ok(Signals {
            term: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// SIGTERM or SIGINT came.
    async fn stop(&mut self) {
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Waits for SIGTERM or SIGINT; SIGHUP reads the configuration again. From the first of these on, a second one ends the
/// process at once: the ledger has everything that was acknowledged, and wardens end their agents by themselves. `false`: it
/// must stop because a part has broken off.
async fn until_stopped(mut signals: Signals, reloader: &Arc<Reloader>, broken: &Broken) -> bool {
    let whole = loop {
        tokio::select! {
            _ = signals.term.recv() => break true,
            _ = signals.interrupt.recv() => break true,
            () = broken.told() => break false,
            _ = signals.hang_up.recv() => {
                if let Err(error) = reloader.reload().await {
                    tracing::error!("the configuration was not reloaded, the running one stays:\n{error}");
                }
            }
        }
    };
    tracing::info!("stopping: no further requests are taken; a second signal ends at once");
    tokio::spawn(async move {
        signals.stop().await;
        tracing::warn!("stopped at once; what was running runs again at the next start");
        std::process::exit(0);
    });
    whole
}
