//! What it was measured on.

use std::path::Path;

/// Processor, memory, kernel and file system in one line.
pub(crate) fn description(work: &Path) -> String {
    let value = |file: &str, name: &str| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
        line.split_once(':').map_or_else(String::new, |(_, value)| value.trim().to_owned())
    };
    let model = value("/proc/cpuinfo", "model name");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kib: u64 = value("/proc/meminfo", "MemTotal").split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
    let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
    format!(
        "{model}, {cores} cores, {} GB of memory, Linux {kernel}, {}",
        kib * 1024 / 1_000_000_000,
        file_system(work)
    )
}

/// The type of the file system below a folder, and what it is mounted from.
fn file_system(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let best = mounts
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.next()?, words.next()?))
        })
        .filter(|(_, at, _)| folder.starts_with(at))
        // The last of those mounted at one place is the one that is seen.
        .max_by_key(|(_, at, _)| at.len());
    best.map_or_else(|| "file system unknown".into(), |(from, _, kind)| format!("{kind} on {from}"))
}
