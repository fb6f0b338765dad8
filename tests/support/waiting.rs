//! Waiting until something is so.

use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take before a test gives up. Far above what it takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(10);

/// Looks until `look` finds something, and answers that.
pub(crate) fn until_some<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "not within {} s: {what}", PATIENCE.as_secs());
        thread::sleep(LOOK);
    }
}

/// Looks until it is so.
pub(crate) fn until(what: &str, mut look: impl FnMut() -> bool) {
    until_some(what, || look().then_some(()));
}
