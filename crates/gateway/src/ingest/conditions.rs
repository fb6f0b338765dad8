//! The conditions of a route, and the lists in files that they look into.

use std::io::Read as _;
use std::path::Path;

use config::Route;
use rules::filter::{self, Seen};
use serde_json::Value;

use crate::Core;

/// The largest file; what is longer is no list that a person keeps.
const LARGEST: u64 = 8 << 20;

/// Whether the route's conditions let an event through.
pub(super) fn pass(
    core: &Core,
    route: &Route,
    event_type: &str,
    payload: &Value,
    headers: &[(String, String)],
) -> bool {
    route.filters.passes(&Seen { payload, event_type, headers }, &|file| values(&core.home, file))
}

/// The values in a file, read anew: `name` is below the home, or absolute. One that cannot be read is empty, and said to be.
fn values(home: &Path, name: &str) -> Vec<Value> {
    match read(&home.join(name)) {
        Ok(text) => filter::list(&text),
        Err(error) => {
            tracing::warn!(file = name, %error, "a list of a filter cannot be read; it is taken for empty");
            Vec::new()
        }
    }
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let length = std::fs::File::open(path)?.take(LARGEST + 1).read_to_string(&mut text)?;
    if u64::try_from(length).unwrap_or(u64::MAX) > LARGEST {
        return Err(std::io::Error::other("larger than 8 MiB"));
    }
    Ok(text)
}
