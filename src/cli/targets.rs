//! `doorbell targets`.

use ::targets::{COMMON, Key, Kind, Resend, Shape};
use clap::Args;
use serde_json::{Value, json};

use super::out;
use super::table::Table;

#[derive(Args)]
pub(super) struct Targets {
    /// Print JSON, with what each key means
    #[arg(long)]
    json: bool,
}

impl Targets {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let kinds = ::targets::kinds();
        if self.json {
            return out::listing(kinds.iter().map(described));
        }
        let mut table = Table::new(&["TARGET", "KEYS", "WHAT IT IS"]);
        for kind in kinds {
            table.row([kind.name, &names(kind.keys), kind.about]);
        }
        out::line(&table.text())?;
        out::line(&format!("\nEvery target takes {} too. `--json` says what each key means.", names(&COMMON)))
    }
}

fn names(keys: &[Key]) -> String {
    keys.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")
}

fn described(kind: &Kind) -> Value {
    json!({
        "name": kind.name,
        "about": kind.about,
        "told": kind.told,
        "limit": kind.limit,
        "resend": match kind.resend {
            Resend::Safe => "safe",
            Resend::IfIdempotent => "if_idempotent",
        },
        "keys": kind.all_keys().map(key).collect::<Vec<_>>(),
    })
}

fn key(key: &Key) -> Value {
    let (shape, words) = shape(key.shape);
    json!({
        "name": key.name,
        "meaning": key.meaning,
        "type": shape,
        "values": words,
        "default": (!key.default.is_empty()).then_some(key.default),
        "in_deliver_extra": key.in_route,
        "credential": key.credential,
    })
}

fn shape(shape: Shape) -> (&'static str, Option<&'static [&'static str]>) {
    match shape {
        Shape::Text => ("text", None),
        Shape::OneOf(words) => ("text", Some(words)),
        Shape::Texts => ("list of texts", None),
        Shape::Pairs => ("names and texts", None),
        Shape::Duration => ("duration", None),
        Shape::Count => ("number", None),
        Shape::Flag => ("flag", None),
    }
}
