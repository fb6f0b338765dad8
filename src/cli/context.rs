//! What every command is told: the home, the configuration file, the environment.

use std::collections::BTreeMap;
use std::path::{PathBuf, absolute};
use std::time::Duration;

use anyhow::Context as _;
use config::Config;

/// Where and with what a command works.
pub(super) struct Context {
    pub(super) place: config::Place,
    pub(super) environment: BTreeMap<String, String>,
}

impl Context {
    pub(super) fn new(flags: super::Place) -> anyhow::Result<Context> {
        // A variable that is not UTF-8 is none of ours, and no `${VAR}` of a text file can hold it.
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let environment: BTreeMap<String, String> = std::env::vars_os().filter_map(text).collect();
        // Agents run in folders of their own: what is relative to this one must not reach them.
        let whole = |path: PathBuf| absolute(&path).with_context(|| format!("{} is no path", path.display()));
        let home = whole(config::home(flags.home.as_deref(), &|name| environment.get(name).cloned()))?;
        let place = match flags.config {
            Some(config_file) => config::Place { home, config_file: whole(config_file)? },
            None => config::Place::of_home(home),
        };
        Ok(Context { place, environment })
    }

    /// The configuration; the error holds every problem, one a line.
    pub(super) fn config(&self) -> anyhow::Result<Config> {
        Ok(config::load(&self.place, &self.environment)?)
    }
}

/// Runs what waits for the network or the ledger.
pub(super) fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.enable_all().build().context("cannot start the threads that the work needs")?;
    let done = runtime.block_on(work);
    // A thread that hangs in the system (a dead network disk) must not keep the process.
    runtime.shutdown_timeout(Duration::from_secs(1));
    done
}
