//! `doorbell demo`.

use clap::Args;

/// How the demonstration ends.
#[derive(Args)]
pub(super) struct Demo {
    /// Leave the gateway running until Ctrl-C
    #[arg(long)]
    keep: bool,
}

impl Demo {
    /// Tells the story.
    pub(super) fn run(&self) -> anyhow::Result<()> {
        crate::demo::run(self.keep)
    }
}
