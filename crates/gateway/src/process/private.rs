//! Files of jobs: for their owner only.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Makes a file, or empties it, for its owner only; its folder too when somebody has removed it.
pub(super) fn private_file(path: &Path) -> std::io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(path)
}

/// Writes a file for its owner only.
pub fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    private_file(path)?.write_all(bytes)
}
