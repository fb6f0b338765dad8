//! A small disk of its own, for tests that may mount one.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::process::command;

/// A disk in memory. Unmounted when the test is over.
pub(crate) struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// One of so many bytes; `None`, which is said, where the test may not mount.
    pub(crate) fn of(bytes: u64) -> Option<SmallDisk> {
        let folder = tempfile::Builder::new().prefix("mount-").tempdir().expect("a temporary folder");
        let mut mount = command("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", &format!("size={bytes},mode=755"), "tmpfs"]).arg(folder.path());
        if mounted.output().is_ok_and(|output| output.status.success()) {
            return Some(SmallDisk { folder });
        }
        eprintln!("no right to mount a small disk here");
        None
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Takes all the room that is left, but for so many bytes.
    pub(crate) fn fill(&self, left: usize) {
        let path = self.path().join("filler");
        let mut kept = vec![0; left];
        fs::write(self.path().join("kept"), &kept).expect("there is so much room");
        let mut file = fs::File::create(path).expect("a file");
        kept.resize(4096, 1);
        while std::io::Write::write_all(&mut file, &kept).is_ok() {}
        fs::remove_file(self.path().join("kept")).expect("it is there");
    }

    /// Gives the room back.
    pub(crate) fn free(&self) {
        fs::remove_file(self.path().join("filler")).expect("it is there");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // At once for everybody's eyes, in fact when the last file on it is closed.
        let _ = command("umount").arg("-l").arg(self.folder.path()).output();
    }
}
