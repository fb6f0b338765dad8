//! Open files: enough of them, and some kept back from senders.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that are not connections to the public address: the ledger and its readers, connections to the admin address, and
/// the pipes of runs and deliveries.
const KEPT_BACK: u64 = 512;

/// How many connections to the public address there may be, of those `wanted`. Raises this process's limit of open files for
/// them as far as the system allows; where that is not far enough there are fewer, and a line says so.
pub(super) fn connections(wanted: usize) -> usize {
    let needed = u64::try_from(wanted).unwrap_or(u64::MAX).saturating_add(KEPT_BACK);
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX);
    let mut current = limit.current.unwrap_or(u64::MAX);
    if current < needed && current < most {
        let raised = needed.min(most);
        if setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum: limit.maximum }).is_ok() {
            current = raised;
        }
    }
    let room = room(wanted, current);
    if room < wanted {
        tracing::warn!(
            open_files = current,
            connections = room,
            "the system's limit of open files allows fewer connections than server.max_connections: raise it (`ulimit -n`, \
             `LimitNOFILE=`)"
        );
    }
    room
}

/// Of `files` that may be open.
fn room(wanted: usize, files: u64) -> usize {
    // Of very few at least half are for senders.
    let left = files.saturating_sub(KEPT_BACK).max(files / 2).max(1);
    usize::try_from(left).map_or(wanted, |left| left.min(wanted))
}

#[cfg(test)]
mod tests {
    use super::room;

    #[test]
    fn some_files_are_no_connections() {
        assert_eq!(room(1024, 1_000_000), 1024);
        assert_eq!(room(1024, 1024), 512);
        assert_eq!(room(1024, 64), 32);
        assert_eq!(room(1024, 1), 1);
    }
}
