//! The log: on standard error, as text or as one JSON object a line.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs: an object a line.
    Json,
}

/// Begins to log. `DOORBELL_LOG` sets the levels (`info` when unset), in the syntax of tracing's filters.
pub(crate) fn start(format: Format) {
    let filter = EnvFilter::try_from_env("DOORBELL_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    match format {
        Format::Text => {
            let colour = std::io::IsTerminal::is_terminal(&std::io::stderr());
            builder.with_ansi(colour).init();
        }
        Format::Json => builder.json().flatten_event(true).init(),
    }
}
