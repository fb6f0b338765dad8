//! Until when programs may run.
//!
//! A gateway whose life holds a lease permits its programs to run until shortly before the lease ends, and says so to their
//! wardens each time that it has renewed it. Then they end also where the gateway cannot end them: halted, swapped out,
//! in a machine that was suspended. Another node may begin their events' next runs by then.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::sync::watch;

/// Without any end.
pub(super) const FOREVER: u64 = u64::MAX;

/// Milliseconds of a clock that all processes of the machine read alike, that nobody sets, and that goes on while it is suspended.
pub(crate) fn moment() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let (seconds, nanos) = (u64::try_from(now.tv_sec).unwrap_or(0), u64::try_from(now.tv_nsec).unwrap_or(0));
    seconds.saturating_mul(1000).saturating_add(nanos / 1_000_000)
}

/// What a gateway permits. Programs may run for ever until it says otherwise.
#[derive(Debug)]
pub struct Permits(watch::Sender<u64>);

impl Default for Permits {
    fn default() -> Permits {
        Permits(watch::Sender::new(FOREVER))
    }
}

impl Permits {
    /// Permits programs to run until so long after `since`, a [`moment`].
    pub(crate) fn extend(&self, since: u64, by: Duration) {
        self.0.send_replace(since.saturating_add(u64::try_from(by.as_millis()).unwrap_or(FOREVER)));
    }

    /// What holds for a program that is started now, and from then on.
    pub fn permit(&self) -> Permit {
        Permit(self.0.subscribe())
    }
}

/// A program's own.
#[derive(Debug, Clone)]
pub struct Permit(watch::Receiver<u64>);

impl Permit {
    /// The moment until which it is good.
    pub(super) fn until(&mut self) -> u64 {
        *self.0.borrow_and_update()
    }

    /// Waits for another moment.
    pub(super) async fn changed(&mut self) -> u64 {
        if self.0.changed().await.is_err() {
            // The gateway is ending, which its wardens see by themselves.
            std::future::pending::<()>().await;
        }
        self.until()
    }
}
