//! The log: on standard error, as text or as one JSON object a line.
//!
//! A log must never cost an event. Lines go through a bounded queue to a thread of their own: one that nobody reads, or that
//! cannot be written (a full disk, a pipe whose reader has gone), loses lines and holds nothing up.

use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

/// The levels when nobody says others. The pool says each connection that was lost; what that means is said by us, once.
const LEVELS: &str = "info,deadpool.postgres=off";

/// Lines that may wait to be written.
const WAITING: usize = 10_000;

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For programs: an object a line.
    Json,
}

/// Begins to log. `DOORBELL_LOG` sets the levels (`info` when unset), in the syntax of tracing's filters. The last lines
/// are written when the guard is dropped.
pub(crate) fn start(format: Format) -> WorkerGuard {
    let filter = EnvFilter::try_from_env("DOORBELL_LOG").unwrap_or_else(|_| EnvFilter::new(LEVELS));
    let queue = NonBlockingBuilder::default().buffered_lines_limit(WAITING).lossy(true).thread_name("log");
    let (writer, guard) = queue.finish(std::io::stderr());
    // Told to standard error, errors of writing to it would end in a panic.
    let builder = fmt().with_env_filter(filter).with_writer(writer).with_target(false).log_internal_errors(false);
    match format {
        Format::Text => {
            let colour = std::io::IsTerminal::is_terminal(&std::io::stderr());
            builder.with_ansi(colour).init();
        }
        Format::Json => builder.with_ansi(false).json().flatten_event(true).init(),
    }
    guard
}
