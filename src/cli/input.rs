//! Files that commands read.

use std::io::{self, Read as _};
use std::path::Path;

/// The content of a file, or of standard input for `-`.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    if path.as_os_str() != "-" {
        return std::fs::read(path);
    }
    let mut content = Vec::new();
    io::stdin().lock().read_to_end(&mut content)?;
    Ok(content)
}
