//! Processes: the only place that starts any.
//!
//! Nothing is started directly. Each program runs under a *warden*, which is this same executable started as
//! `doorbell warden`: it gives the program a process group of its own, adopts what the program leaves behind, and ends all of
//! it at the deadline, on request, or when the gateway has gone. So no agent outlives a killed gateway, and none that
//! was left behind keeps a run alive.
//!
//! The warden inherits an open, locked file as its standard error. The lock goes when the last holder has gone, so a
//! later gateway that can take the lock knows that the program has ended, with no gap in which neither holds it.

mod capture;
mod descendants;
mod run;
pub mod warden;
mod wire;

pub use run::{Exit, Job, Report, run, wait_until_gone};
