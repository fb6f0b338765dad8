//! The doing: a webhook's way from the socket to the agent and on to its target.
//!
//! [`ingest`] takes requests and writes them to the ledger; [`run`](mod@run) wakes agents for what waits there; [`deliver`]
//! carries answers to their targets. Each takes its work from the ledger and writes back to it, so that each can die and
//! start again without the others knowing.

pub mod broken;
pub mod chance;
pub mod clock;
mod core;
pub mod deliver;
pub mod egress;
mod hex;
pub mod housekeeping;
pub mod ingest;
pub mod leftovers;
pub mod life;
pub mod listen;
pub mod process;
pub mod reload;
mod repair;
pub mod run;
pub mod signals;
pub mod standing;
pub mod trouble;
pub mod wall;

pub use core::{Core, node_name};
