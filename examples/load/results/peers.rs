//! Other systems on the same machine, driven by the same driver. Scripts of their own write the figures into a JSON file.

use std::fmt::Write as _;
use std::path::Path;

use serde::Deserialize;

use super::{grouped, per_second};

/// One system at one number of connections. What was not measured is `null` or left out; the scripts note more than is shown.
#[derive(Deserialize)]
struct Peer {
    system: String,
    version: Option<String>,
    /// What it has stored by the time of its answer, in words.
    stored: Option<String>,
    connections: Option<u64>,
    accepted_per_s: Option<f64>,
    p50_ms: Option<f64>,
    p99_ms: Option<f64>,
    rss_mb: Option<f64>,
    accepted: Option<u64>,
    /// How many of the accepted ones really ran.
    really_run: Option<u64>,
    /// How many waited for their run when the counting ended.
    waiting: Option<u64>,
    /// What its 2xx means, in words.
    accepted_means: Option<String>,
    /// What became of accepted events after kill -9 and a new start.
    after_kill: Option<AfterKill>,
    /// Why it could not be measured here.
    unavailable: Option<String>,
}

#[derive(Deserialize)]
struct AfterKill {
    accepted: Option<u64>,
    not_run: Option<u64>,
}

/// The table of a file. The error says what is wrong with it.
pub(crate) fn table(file: &Path) -> Result<String, String> {
    let read = std::fs::read_to_string(file).map_err(|error| error.to_string());
    let peers: Vec<Peer> = read
        .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()))
        .map_err(|error| format!("{}: {error}", file.display()))?;
    let mut text = String::from(
        "| system | connections | accepted | p50 | p99 | memory | accepted / really run / waiting | not run after kill -9 | what its 2xx means | stored by then |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".into());
    let ms = |value: Option<f64>| or_dash(value.map(|ms| format!("{ms:.1} ms")));
    let count = |value: Option<u64>| or_dash(value.map(grouped));
    for peer in peers {
        if let Some(why) = peer.unavailable {
            let _ = writeln!(text, "| {} | not measured: {why} | | | | | | | | |", peer.system);
            continue;
        }
        let killed = peer.after_kill.map(|k| format!("{} of {}", count(k.not_run), count(k.accepted)));
        let _ = writeln!(
            text,
            "| {} {} | {} | {} | {} | {} | {} | {} / {} / {} | {} | {} | {} |",
            peer.system,
            peer.version.unwrap_or_default(),
            count(peer.connections),
            or_dash(peer.accepted_per_s.map(per_second)),
            ms(peer.p50_ms),
            ms(peer.p99_ms),
            or_dash(peer.rss_mb.map(|mb| format!("{mb:.0} MB"))),
            count(peer.accepted),
            count(peer.really_run),
            count(peer.waiting),
            or_dash(killed),
            or_dash(peer.accepted_means),
            or_dash(peer.stored),
        );
    }
    Ok(text)
}
