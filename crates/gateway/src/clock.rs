//! Time, handed in: components own no clock, so tests can.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A handle to a clock.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> i64 + Send + Sync>);

impl Clock {
    /// The machine's clock.
    pub fn system() -> Clock {
        Clock(Arc::new(|| {
            #[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
        }))
    }

    /// A clock that tells what `now` tells.
    pub fn of(now: impl Fn() -> i64 + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(now))
    }

    /// Unix time in milliseconds.
    pub fn now(&self) -> i64 {
        (self.0)()
    }
}
