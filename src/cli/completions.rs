//! `doorbell completions`.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::{Cli, out};

#[derive(Args)]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "doorbell", &mut script);
        out::bytes(&script)
    }
}
