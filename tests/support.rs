//! What the stories share: a real gateway in a home of its own, an agent that is a shell script, receivers, and a plain
//! HTTP client. Nothing here waits for a time to pass; it waits for something to be so, with a deadline.
#![allow(dead_code, unused_imports, reason = "each story takes what it needs")]
#![allow(clippy::needless_pass_by_value, reason = "stories write JSON where it is used")]

mod agent;
mod clock;
mod disk;
mod doorbell;
mod home;
mod http;
mod log;
mod mount;
mod power;
mod preload;
mod process;
mod proxy;
mod receiver;
mod ring;
mod waiting;

pub(crate) use agent::{Agent, SeenRun};
pub(crate) use clock::WallClock;
pub(crate) use disk::Disk;
pub(crate) use doorbell::Doorbell;
pub(crate) use home::{Home, Output, SECRET};
pub(crate) use http::{Answer, exchange, read_answer, read_to_end, request as http_request};
pub(crate) use mount::SmallDisk;
pub(crate) use power::{Dice, Power, Rest};
pub(crate) use process::{alive, kill, parent, shell};
pub(crate) use proxy::Proxy;
pub(crate) use receiver::{Gate, Receiver, Reply, Seen};
pub(crate) use ring::{Ring, fresh_id, github_headers, hex_hmac, now_s, standard_headers};
pub(crate) use waiting::{PATIENCE, until, until_in, until_some};

pub(crate) use serde_json::{Value, json};
