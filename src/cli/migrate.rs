//! `doorbell migrate`.

use std::io::{IsTerminal as _, Write as _};

use clap::Args;
use config::Shelf;
use ledger::migrate::{self, At, Copied};
use serde_json::json;

use super::context::Context;
use super::out;
use super::table::Table;

#[derive(Args)]
pub(super) struct Migrate {
    /// The ledger to copy, as `store.url` names it: sqlite:PATH (doorbell.db is the one in the home) or postgres://…
    #[arg(long, value_name = "URL")]
    from: String,
    /// The empty ledger to copy it into
    #[arg(long, value_name = "URL")]
    to: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Migrate {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<()> {
        let (from, to) = (place("--from", &self.from, context)?, place("--to", &self.to, context)?);
        crate::serve::prepare_home(&context.place.home)?;
        let is_watched = std::io::stderr().is_terminal();
        let mut progress = |table: &str, rows: u64| {
            if is_watched {
                let _ = write!(std::io::stderr(), "\r\x1b[K{table}: {rows} rows");
            }
        };
        let copied = migrate::copy(&from, &to, &mut progress);
        if is_watched {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
        let copied = copied?;
        if self.json {
            let tables: Vec<_> = copied
                .iter()
                .map(|one| json!({"table": one.table, "rows": one.rows, "checksum": one.checksum}))
                .collect();
            out::json(&json!({"tables": tables}))?;
        } else {
            out::line(&text(&copied))?;
        }
        out::note(&next_step(&to));
        Ok(())
    }
}

/// What a URL of the command line names.
fn place(option: &str, url: &str, context: &Context) -> anyhow::Result<At> {
    let home = &context.place.home;
    match Shelf::read(url, home).map_err(|wrong| anyhow::anyhow!("{option}: {wrong}"))? {
        Shelf::File(path) => Ok(At::File { home: home.clone(), path }),
        Shelf::Database(url) => Ok(At::Database { url: url.expose().to_owned(), shown: url.to_string() }),
    }
}

fn text(copied: &[Copied]) -> String {
    let mut table = Table::new(&["TABLE", "ROWS", "CHECKSUM OF BOTH"]);
    for one in copied {
        table.row([one.table, &one.rows.to_string(), &one.checksum[..16]]);
    }
    table.text()
}

fn next_step(to: &At) -> String {
    match to {
        At::File { path, .. } => {
            format!(
                "copied; set store.url to sqlite:{} (or null for doorbell.db in the home) and start the gateway",
                path.display()
            )
        }
        At::Database { shown, .. } => {
            format!("copied; set store.url to {shown}, with user and password, and start the gateway")
        }
    }
}
