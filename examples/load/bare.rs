//! What the gateway's figures stand beside: each half of its work alone, done with as little as it can be done.

pub(crate) mod commits;
pub(crate) mod handler;
