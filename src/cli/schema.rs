//! `doorbell schema`.

use super::out;

pub(super) fn run() -> anyhow::Result<()> {
    out::json(&config::schema())
}
