//! Who is ringing? Bytes, headers and secrets in; a verdict, an event type and a delivery id out.
//!
//! A provider is a row of data ([`Source`]): where its signature stands, how it is written, what it covers, where its
//! event type and delivery id are found. One engine judges all rows, so a new provider is a new row and no new code.
//! The crate is pure: no I/O, no clock, no randomness. It never sees a query string, so a query never authenticates.
//!
//! ```
//! use doorbell_verify::{Request, Secret, Settings, Verifier, event_type, sign};
//!
//! let secret = Secret::new("It's a Secret to Everybody");
//! let body = b"{\"zen\":\"Keep it logically awesome.\"}";
//! let headers = [
//!     ("x-github-event".to_owned(), "push".to_owned()),
//!     ("x-hub-signature-256".to_owned(), sign::github(&secret, body)),
//! ];
//!
//! let verifier = Verifier::new(&Settings { secrets: vec![secret], ..Settings::of("github") })?;
//! let believed = verifier.verify(&Request { headers: &headers, body }, 1_790_000_000_000).expect("signed with the secret");
//! assert_eq!(event_type(believed.source, &headers, &serde_json::Value::Null), "push");
//! # Ok::<(), doorbell_verify::SettingsError>(())
//! ```

mod auto;
mod configured;
mod engine;
mod mask;
mod names;
mod options;
mod path;
mod providers;
mod request;
pub mod scheme;
mod secret;
mod settings;
pub mod sign;
mod source;
mod verdict;
mod verifier;

pub use auto::{AUTO, auto_order};
pub use mask::mask;
pub use names::{delivery_id, event_type, gitlab_short_name, is_ping};
pub use request::Request;
pub use secret::{INSECURE_NO_AUTH, Secret};
pub use settings::{Settings, SettingsError};
pub use source::{Place, Places, Setting, Source, source, sources};
pub use verdict::{Refused, Verified};
pub use verifier::Verifier;
