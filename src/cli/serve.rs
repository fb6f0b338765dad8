//! `doorbell serve`.

use clap::Args;

use super::context::{self, Context};
use crate::logging::{self, Format};

#[derive(Args)]
pub(super) struct Serve {
    /// How log lines look on standard error
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    log_format: Format,
}

impl Serve {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<()> {
        let _log = logging::start(self.log_format);
        let (place, environment) = (context.place.clone(), context.environment.clone());
        context::block_on(crate::serve::serve(crate::serve::Options { place, environment }))
    }
}
