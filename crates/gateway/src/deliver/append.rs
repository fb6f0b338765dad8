//! A line at the end of a file, there for good once it counts as written.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

use targets::{Append, Reply};
use tokio::time::timeout;

/// Writes in a thread of its own, which a disk that does not answer may hold for ever: nobody waits for it beyond `patience`.
pub(super) async fn append(append: &Append, patience: Duration) -> Reply {
    let line = append.clone();
    match timeout(patience, tokio::task::spawn_blocking(move || write_line(&line))).await {
        Ok(Ok(Ok(()))) => Reply::Written,
        Ok(Ok(Err(error))) => Reply::WriteFailed(error.to_string()),
        Ok(Err(error)) => Reply::WriteFailed(error.to_string()),
        Err(_) => Reply::NoAnswer("the disk did not answer in time".into()),
    }
}

/// One write of the whole line, then the disk: an answer that counts as delivered is there after a power cut.
fn write_line(append: &Append) -> std::io::Result<()> {
    let path = Path::new(&append.path);
    let folder = path.parent().unwrap_or(Path::new("."));
    let new_folder = !folder.exists();
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o600);
    // A named pipe without a reader would hold the call up for ever.
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    let mut file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a regular file"));
    }
    // The end of what a power cut or a full disk has left of a line.
    let end = if ends_in_a_piece(path, metadata.len()) { "\n" } else { "" };
    file.write_all(format!("{end}{}", append.line).as_bytes())?;
    points::reach("delivery.appended");
    file.sync_data()?;
    // The file's name too: it is there when its folder is on the disk, not when the file is.
    let folders = if new_folder { usize::MAX } else { 1 };
    folder.ancestors().take(folders).try_for_each(sync_folder)
}

/// Whether the file ends in a piece of a line, which must not spoil the next one.
fn ends_in_a_piece(path: &Path, length: u64) -> bool {
    let mut last = [b'\n'];
    // A file that we may not read is taken as whole.
    let _ = File::open(path).and_then(|file| file.read_exact_at(&mut last, length.saturating_sub(1)));
    last != [b'\n']
}

fn sync_folder(folder: &Path) -> std::io::Result<()> {
    match File::open(folder) {
        Ok(folder) => folder.sync_all(),
        // One that we may not read, or the empty name of the working folder: nothing of it can be synced.
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(path: &Path, text: &str) {
        write_line(&Append { path: path.to_string_lossy().into_owned(), line: format!("{text}\n") })
            .expect("it is written");
    }

    #[test]
    fn a_piece_of_a_line_at_the_end_does_not_spoil_the_next_line() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("new/answers.jsonl");
        line(&path, "one");
        line(&path, "two");
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"thr").unwrap();
        line(&path, "four");
        line(&path, "five");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\nthr\nfour\nfive\n");
    }
}
