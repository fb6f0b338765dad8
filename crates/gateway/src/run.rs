//! Waking agents: one run at a time for each event, until one success is on record.
//!
//! The [`Scheduler`] takes what may run from the ledger and gives each run a task (`flight.rs`); `recovery.rs` deals with the
//! runs of lives that are over.

mod brake;
mod flight;
mod flights;
mod outcome;
mod prepare;
mod recovery;
mod scheduler;
mod stop_command;

pub use brake::Brake;
pub use flights::{Flights, StopWish};
pub(crate) use recovery::give_back;
pub use recovery::{recover, take_up};
pub use scheduler::Scheduler;
