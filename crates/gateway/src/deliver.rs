//! Carrying answers to their targets, each on its own: a target that fails costs neither a second run nor its neighbours.

mod append;
mod attempt;
mod courier;
mod recovery;
mod sending;

pub use courier::Courier;
pub(crate) use recovery::give_back;
pub use recovery::{recover, take_up};
pub use sending::Sending;
