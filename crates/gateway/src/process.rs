//! Processes: the only place that starts any.
//!
//! Nothing is started directly. Each program runs under a *warden*, which is this same executable started as
//! `doorbell warden`: it gives the program a process group of its own, adopts what the program leaves behind, and ends all of
//! it at the deadline, on request, or when the gateway has gone. So no agent outlives a killed gateway, and none that
//! was left behind keeps a run alive.
//!
//! The warden inherits an open, locked file as its standard error. The lock goes when the last holder has gone, so a
//! later gateway that can take the lock knows that the warden has ended, with no gap in which neither holds it.
//!
//! A warden can be lost: the program may end or halt it, and the system may kill it, even together with the gateway. So
//! every process of a job carries a [`Mark`] in its environment, and what has no warden any more is found by it and ended, by
//! this gateway or by the next one before it runs the job again.

mod capture;
mod descendants;
mod gone;
mod marked;
mod permit;
mod private;
mod run;
pub mod warden;
mod wire;

pub use gone::{remove_unless_held, wait_until_gone};
pub use marked::Mark;
pub(crate) use permit::moment;
pub use permit::{Permit, Permits};
pub use private::write_private;
pub use run::{Exit, Job, Report, run};

/// Between SIGTERM and SIGKILL.
const GRACE: std::time::Duration = std::time::Duration::from_secs(5);
