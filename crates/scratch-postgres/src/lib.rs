//! A PostgreSQL for tests: one cluster for all test processes of a machine's user, a database of its own for each test.
//!
//! The first test that asks starts the cluster from the installed binaries, in a folder of its own, with a PgBouncer in
//! transaction mode before it where that is installed. Each process that uses it holds a lock until it ends, however it
//! ends; a small watch script stops the cluster and removes the folder when nobody has held one for a while. `initdb` and
//! `postgres` refuse to run as root: for root they run as an unprivileged user. `fsync` is off: what is tested is what the
//! database says it did, not the machine's disk.

mod cluster;
mod database;
mod launch;
mod server;

pub use cluster::Cluster;
pub use database::Database;
pub use server::{Server, Stop};
