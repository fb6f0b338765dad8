//! What happened: the store of events, runs and deliveries, and the queue over them.
//!
//! [`Ledger`] is the one trait that every stage of the gateway works through. It is shaped by tasks (admit, claim, finish),
//! not by tables, so that each task is one atomic step in whatever database stands behind it. [`sqlite`] is the store
//! that a single gateway uses, [`postgres`] that of several; [`model`] is the same behaviour in memory, small enough to be read as the specification;
//! the suite in `conformance/` holds them all to the same histories.

pub mod api;
#[cfg(test)]
mod conformance;
pub mod migrate;
pub mod model;
pub mod postgres;
mod schema;
pub mod sqlite;

pub use api::Ledger;
pub use api::admit::{Admission, Admitted, Ignored, Key, NewEvent, StoredRequest};
pub use api::deliveries::{ClaimDeliveries, ClaimedDelivery, DeliveryEnd, NewDelivery, StuckDelivery, TargetRoom};
pub use api::error::Error;
pub use api::nodes::{Inheritance, Lease, Node, Renewal};
pub use api::runs::{AgentRoom, ClaimRuns, ClaimedRun, FinishRun, Finished, OrphanRun, RouteRoom, RunRecord};
pub use api::views::{Delivery, DeliveryQuery, Due, Event, EventQuery, Page, Run, RunQuery, Status};

/// One life of one node: every write of a run carries it, so that a result from a life that is over is refused.
pub type Boot = i64;

/// Unix time in milliseconds.
pub type Millis = i64;
