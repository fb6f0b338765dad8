//! `doorbell sources`.

pub(super) mod words;

use clap::Args;
use serde_json::{Value, json};
use verify::{AUTO, Setting, Source, auto_order};

use super::out;
use super::table::Table;

#[derive(Args)]
pub(super) struct Sources {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Sources {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let all: Vec<Value> = std::iter::once(auto()).chain(verify::sources().iter().map(described)).collect();
        if self.json {
            return out::listing(all);
        }
        let mut table = Table::new(&["SOURCE", "FOR", "NEEDS", "HOW IT SIGNS", "NOTE"]);
        let text = |source: &Value, key: &str| source[key].as_str().unwrap_or_default().to_owned();
        for source in &all {
            let list = |key: &str| source[key].as_array().into_iter().flatten().cloned().collect::<Vec<_>>();
            let needs: Vec<Value> = list("needs");
            let needs: Vec<&str> = needs.iter().filter_map(Value::as_str).collect();
            let note =
                if source["deprecated"] == true { "deprecated: " } else { "" }.to_owned() + &text(source, "note");
            let row = [text(source, "name"), text(source, "title"), needs.join(", "), text(source, "signs"), note];
            table.row(row);
        }
        out::line(&table.text())
    }
}

/// `auto` is no row of the table: it chooses among rows.
fn auto() -> Value {
    let order: Vec<&str> = auto_order().map(|source| source.name).collect();
    json!({
        "name": AUTO,
        "title": "Whichever of these signs",
        "needs": ["secret"],
        "signs": format!("the first of these whose header is there decides: {}", order.join(", ")),
        "signs_body": null,
        "options": options(&[]),
        "deprecated": false,
        "note": "",
    })
}

fn described(source: &Source) -> Value {
    json!({
        "name": source.name,
        "title": source.title,
        "needs": if source.needs_secret() { vec!["secret"] } else { vec![] },
        "signs": words::scheme(&source.scheme),
        "signs_body": source.signs_body(),
        "options": options(source.options),
        "deprecated": source.deprecated,
        "note": source.note,
    })
}

fn options(settings: &[Setting]) -> Vec<Value> {
    settings.iter().map(|setting| json!({"key": setting.key, "meaning": setting.meaning})).collect()
}
