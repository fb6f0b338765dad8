//! Waiting until something is so.

use std::thread;
use std::time::{Duration, Instant};

/// How long anything may take before a test gives up. Far above what it takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(10);

/// Looks until `look` finds something; `None` when it does not in [`PATIENCE`].
pub(super) fn found<T>(look: impl FnMut() -> Option<T>) -> Option<T> {
    found_in(PATIENCE, look)
}

fn found_in<T>(patience: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + patience;
    loop {
        let found = look();
        if found.is_some() || Instant::now() > end {
            return found;
        }
        thread::sleep(LOOK);
    }
}

/// Looks until `look` finds something, and answers that.
#[track_caller]
pub(crate) fn until_some<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    found(look).unwrap_or_else(|| panic!("not within {} s: {what}", PATIENCE.as_secs()))
}

/// Looks until it is so.
#[track_caller]
pub(crate) fn until(what: &str, mut look: impl FnMut() -> bool) {
    until_some(what, || look().then_some(()));
}

/// The same for what takes long by itself.
#[track_caller]
pub(crate) fn until_in(patience: Duration, what: &str, mut look: impl FnMut() -> bool) {
    let found = found_in(patience, || look().then_some(()));
    assert!(found.is_some(), "not within {} s: {what}", patience.as_secs());
}
