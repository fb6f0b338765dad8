//! Small C libraries that stand between the gateway and the system, compiled when they are first wanted.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use super::process::command;

const FLAGS: [&str; 4] = ["-std=gnu11", "-shared", "-fPIC", "-O2"];

/// The library of a C source. Tests are processes of their own, so it is kept in the build folder under a name that changes
/// with the source: one build serves all of them.
pub(super) fn library(name: &str, source: &str) -> PathBuf {
    let mut hash = DefaultHasher::new();
    (source, FLAGS).hash(&mut hash);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let built = folder.join(format!("{name}-{:016x}.so", hash.finish()));
    if built.exists() {
        return built;
    }
    let own = tempfile::tempdir_in(folder).expect("a folder in the build folder");
    let (text, fresh) = (own.path().join(format!("{name}.c")), own.path().join(format!("{name}.so")));
    fs::write(&text, source).expect("the source is written");
    let compiled = command("cc").args(FLAGS).arg("-o").arg(&fresh).arg(&text).output().expect("a C compiler `cc`");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    // Whole or not at all: other tests may be at it too.
    fs::rename(&fresh, &built).expect("the library is put in its place");
    built
}
