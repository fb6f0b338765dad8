//! The table at the end.

use std::collections::BTreeMap;

use super::rounds::Kind;

/// What one life came to.
pub(crate) struct Life {
    pub(crate) acknowledged: usize,
    pub(crate) interrupted: usize,
    pub(crate) unknown: usize,
}

#[derive(Default)]
struct Row {
    lives: usize,
    cuts: usize,
    bytes_lost: usize,
    acknowledged: usize,
    interrupted: usize,
    unknown: usize,
}

/// Lives by their kind.
#[derive(Default)]
pub(crate) struct Tally(BTreeMap<&'static str, Row>);

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Load | Kind::Flood => "kill -9 under load",
        Kind::Idle => "kill -9 around a single event",
        Kind::Point(_) => "death at a named point",
        Kind::Start => "kill -9 while it starts",
        Kind::Stop => "SIGTERM, then kill -9",
    }
}

impl Tally {
    /// A life ended with a power cut, which cost so many bytes.
    pub(crate) fn cut(&mut self, kind: Kind, bytes: usize) {
        let row = self.0.entry(name(kind)).or_default();
        row.cuts += 1;
        row.bytes_lost += bytes;
    }

    /// Adds what another gateway went through.
    pub(crate) fn add(&mut self, other: Tally) {
        for (name, more) in other.0 {
            let row = self.0.entry(name).or_default();
            row.lives += more.lives;
            row.cuts += more.cuts;
            row.bytes_lost += more.bytes_lost;
            row.acknowledged += more.acknowledged;
            row.interrupted += more.interrupted;
            row.unknown += more.unknown;
        }
    }

    pub(crate) fn life(&mut self, kind: Kind, life: &Life) {
        let row = self.0.entry(name(kind)).or_default();
        row.lives += 1;
        row.acknowledged += life.acknowledged;
        row.interrupted += life.interrupted;
        row.unknown += life.unknown;
    }

    /// The table, in Markdown. It is shown when every check was passed, hence the zeros.
    pub(crate) fn table(&self) -> String {
        let head = "| how a life ended | lives | with a power cut | bytes that the cuts took | events acknowledged \
                    | runs interrupted | deliveries unknown | lost | doubled |\n|---|---|---|---|---|---|---|---|---|\n";
        let rows: Vec<String> = self
            .0
            .iter()
            .map(|(name, r)| {
                format!(
                    "| {name} | {} | {} | {} | {} | {} | {} | 0 | 0 |\n",
                    r.lives, r.cuts, r.bytes_lost, r.acknowledged, r.interrupted, r.unknown
                )
            })
            .collect();
        let sum = |field: fn(&Row) -> usize| self.0.values().map(field).sum::<usize>();
        let all = format!(
            "| all | {} | {} | {} | {} | {} | {} | 0 | 0 |\n",
            sum(|r| r.lives),
            sum(|r| r.cuts),
            sum(|r| r.bytes_lost),
            sum(|r| r.acknowledged),
            sum(|r| r.interrupted),
            sum(|r| r.unknown)
        );
        format!("{head}{}{all}", rows.concat())
    }
}
