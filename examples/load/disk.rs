//! What the disk needs to make a page safe.

use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::Instant;

use crate::figures::Figures;

/// Times of `fdatasync` after writing 4 KiB over itself, as a write-ahead log does.
pub(crate) fn fdatasync(folder: &Path) -> Figures {
    let path = folder.join("probe");
    let mut file = std::fs::File::create(&path).expect("a file to probe the disk with");
    let page = [7; 4096];
    let mut once = || {
        file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(&page)).expect("a write to the probe");
        let began = Instant::now();
        file.sync_data().expect("fdatasync");
        began.elapsed()
    };
    // The first ones allocate the blocks.
    for _ in 0..20 {
        once();
    }
    let times = (0..300).map(|_| once()).collect();
    let _ = std::fs::remove_file(path);
    Figures::new(times)
}
