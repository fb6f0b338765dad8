//! Listings: page after page until there are as many rows as were asked for.

use anyhow::Context as _;
use clap::Args;
use ledger::api::views::LARGEST_PAGE;
use serde_json::{Value, json};

use super::backend::{Backend, Noun, Query};
use super::out;
use super::table::Table;

/// How much of a listing is shown, and how.
#[derive(Args)]
pub(super) struct Pages {
    /// At most so many
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Go on where an earlier listing ended: the value of its `next`
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Pages {
    /// Prints what `query` selects. Each column of the table is a field of the rows, below its head.
    pub(super) async fn print(
        self,
        backend: &dyn Backend,
        noun: Noun,
        query: Query,
        columns: &[(&str, &str)],
    ) -> anyhow::Result<()> {
        let (items, next) = self.read(backend, noun, query).await?;
        if self.json {
            return out::json(&json!({"items": items, "next": next}));
        }
        if items.is_empty() {
            out::note("nothing to list");
            return Ok(());
        }
        let heads: Vec<&str> = columns.iter().map(|(head, _)| *head).collect();
        let mut table = Table::new(&heads);
        for item in &items {
            table.row(columns.iter().map(|(_, field)| cell(&item[*field])));
        }
        out::line(&table.text())?;
        if let Some(next) = next.as_str() {
            out::note(&format!("there are more: --limit N shows more at once, --cursor {next} those after these"));
        }
        Ok(())
    }

    async fn read(&self, backend: &dyn Backend, noun: Noun, query: Query) -> anyhow::Result<(Vec<Value>, Value)> {
        let (mut items, mut cursor) = (Vec::new(), self.cursor.clone());
        loop {
            let missing = self.limit.saturating_sub(u32::try_from(items.len()).unwrap_or(u32::MAX));
            let part = Query { limit: missing.min(LARGEST_PAGE), cursor, ..query.clone() };
            let mut page = backend.page(noun, part).await?;
            let rows = page["items"].as_array_mut().context("the gateway's listing has no items")?;
            let came = rows.len();
            items.append(rows);
            let next = page["next"].take();
            // A page without rows would be followed by itself for ever.
            if next.is_null() || came == 0 || items.len() >= self.limit as usize {
                return Ok((items, next));
            }
            cursor = next.as_str().map(str::to_owned);
        }
    }
}

/// A value in a table: texts as they are, nothing for null.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
