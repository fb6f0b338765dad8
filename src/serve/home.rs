//! The home folder and the admin token in it.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use gateway::process::write_private;

/// Makes the home and its folders, for their owner only.
pub(crate) fn prepare(home: &Path) -> anyhow::Result<()> {
    for folder in [home.to_owned(), home.join("runs")] {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    Ok(())
}

/// The token of the admin address from the file `admin.token`, which is made when it is not there.
pub(crate) fn admin_token(home: &Path) -> anyhow::Result<String> {
    let path = home.join("admin.token");
    match fs::read_to_string(&path) {
        Ok(text) => {
            let token = text.trim();
            anyhow::ensure!(!token.is_empty(), "{} is empty; remove it, and a new token is made", path.display());
            Ok(token.to_owned())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let token = gateway::chance::secret(32);
            make_token(&path, &token).with_context(|| format!("cannot make {}", path.display()))?;
            Ok(token)
        }
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// The file gets its name when it is whole and on the disk: a death in the middle must leave no empty token behind. Nobody
/// else makes it meanwhile, since the ledger's lock is ours.
fn make_token(path: &Path, token: &str) -> std::io::Result<()> {
    let fresh = path.with_extension("token.new");
    let mut file = fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&fresh)?;
    points::reach("token.opened");
    file.write_all(format!("{token}\n").as_bytes())?;
    file.sync_all()?;
    points::reach("token.written");
    fs::rename(&fresh, path)
}

/// The file in which a gateway says where its admin address is: `admin.port: 0` leaves the choice to the system, the
/// configuration may have changed since the start, and commands have to find the gateway all the same.
pub(crate) fn admin_url_file(home: &Path) -> PathBuf {
    home.join("admin.url")
}

/// Says where the admin address is.
pub(super) fn write_admin_url(home: &Path, url: &str) -> anyhow::Result<()> {
    let path = admin_url_file(home);
    write_private(&path, url.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}
