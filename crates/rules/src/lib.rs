//! What should happen with an event: the rules that decide it, and nothing else.
//!
//! Everything here is a pure function of its arguments. There is no clock, no randomness and no I/O inside:
//! times come in as Unix milliseconds (`i64`), chance as a number from 0 to 1, payloads as parsed JSON. So every
//! rule can be tested by itself, and the ledger, the gateway and `doorbell backtest` decide alike.
//!
//! | question | module |
//! |---|---|
//! | does the route want this event? | [`events`] |
//! | does it meet the route's conditions? | [`filter`] |
//! | is it one we know already? | [`dedupe`] |
//! | did it come round too often? | [`hop`] |
//! | what does the agent read, and where does its answer go? | [`template`] |
//! | which events wait for each other? | [`line`](mod@line) |
//! | what becomes of the event after a run? | [`run_end`], [`retry`] |
//! | which states are there, and what may follow which? | [`states`] |
//! | is the answer meant to be sent at all? | [`silence`] |

pub mod dedupe;
pub mod events;
pub mod filter;
pub mod headers;
pub mod hop;
pub mod id;
pub mod line;
pub mod number;
pub mod path;
pub mod retry;
pub mod run_end;
pub mod shown;
pub mod silence;
pub mod states;
pub mod template;

#[cfg(test)]
mod arbitrary;
