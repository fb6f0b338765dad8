//! Where Doorbell lives on this machine.

use std::path::{Path, PathBuf};

/// The home and the configuration file that one call of the program works with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Holds `.env`, the ledger and all else that Doorbell keeps; relative paths of the configuration are below it.
    pub home: PathBuf,
    /// Mostly `config.yaml` in the home.
    pub config_file: PathBuf,
}

impl Place {
    /// The home with its own `config.yaml`.
    pub fn of_home(home: PathBuf) -> Self {
        Place { config_file: home.join("config.yaml"), home }
    }
}

/// The home: `--home`, else `$DOORBELL_HOME`, else `~/.doorbell`. Without a `$HOME` that is below the working folder.
pub fn home(flag: Option<&Path>, env: &dyn Fn(&str) -> Option<String>) -> PathBuf {
    let set = |name| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let fallback = || set("HOME").unwrap_or_default().join(".doorbell");
    flag.map(Path::to_path_buf).or_else(|| set("DOORBELL_HOME")).unwrap_or_else(fallback)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_is_looked_for_in_three_places() {
        let env = |set: &'static [(&str, &str)]| {
            move |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        let both = env(&[("DOORBELL_HOME", "/d"), ("HOME", "/h")]);
        assert_eq!(home(Some(Path::new("/flag")), &both), Path::new("/flag"));
        assert_eq!(home(None, &both), Path::new("/d"));
        assert_eq!(home(None, &env(&[("DOORBELL_HOME", ""), ("HOME", "/h")])), Path::new("/h/.doorbell"));
        assert_eq!(home(None, &env(&[])), Path::new(".doorbell"));
        assert_eq!(Place::of_home("/d".into()).config_file, Path::new("/d/config.yaml"));
    }
}
