//! The hour in a small table, and what became of the memory.

use std::fmt::Write as _;
use std::path::Path;

use super::{Sample, Soak};
use crate::measure::ingest::WAL_CAP;
use crate::results::{Row, file, grouped, mb, mib, per_second, table};

/// Rows that the table has at most.
const ROWS: usize = 13;
/// The last quarter's memory may be so much of the first one's.
const FLAT: f64 = 1.1;

pub(crate) fn report(soak: &Soak, out: &Path) {
    let mut text = format!(
        "{} minutes at {}: {} run to success, {} are stored durably, wait, and are cancelled, the others are stored as \
         ignored. Finished events are kept for five minutes and looked for every ten.\n\n\
         | minute | memory | file | largest write-ahead log | accepted so far | succeeded, cancelled, ignored in the file |\n\
         |---|---|---|---|---|---|\n",
        soak.minutes,
        per_second(soak.rate),
        per_second(soak.runs),
        per_second(soak.durable)
    );
    for sample in soak.samples.iter().step_by(soak.samples.len().div_ceil(ROWS).max(1)) {
        let _ = writeln!(
            text,
            "| {:.1} | {} | {} | {} | {} | {}, {}, {} |",
            sample.minute,
            mb(sample.resident_kib * 1024),
            mb(sample.file_bytes),
            mib(sample.wal_bytes),
            grouped(sample.accepted as u64),
            grouped(sample.succeeded),
            grouped(sample.cancelled),
            grouped(sample.ignored)
        );
    }
    let wal = soak.samples.iter().map(|s| s.wal_bytes).max().unwrap_or(0);
    let wal = Row::new("largest write-ahead log", mib(wal)).reach("never above 128 MiB", wal <= WAL_CAP);
    let _ = write!(text, "\n{}", table(&[flat_row(soak), wal]));
    println!("{text}");
    file::put(out, "soak", &text);
}

/// The means of the first and of the last quarter beside each other.
pub(crate) fn flat_row(soak: &Soak) -> Row {
    let quarter = soak.samples.len().div_ceil(4);
    let (first, last) = (&soak.samples[..quarter], &soak.samples[soak.samples.len() - quarter..]);
    let of = |value: fn(&Sample) -> u64| [first, last].map(|part| mean(part.iter().map(value)));
    let ([resident, resident_last], [file, file_last]) = (of(|s| s.resident_kib * 1024), of(|s| s.file_bytes));
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
    let ratio = resident_last as f64 / resident.max(1) as f64;
    Row::new(
        format!("memory over {} minutes of load", soak.minutes),
        format!("{} in the first quarter, {} in the last: {ratio:.2} ×", mb(resident), mb(resident_last)),
    )
    .beside(format!("file {} and {}, at {}", mb(file), mb(file_last), per_second(soak.rate)))
    .reach("flat over an hour", ratio <= FLAT && soak.minutes >= 60.0)
}

fn mean(values: impl ExactSizeIterator<Item = u64>) -> u64 {
    let count = values.len() as u64;
    values.sum::<u64>() / count.max(1)
}

impl Soak {
    /// What an earlier one has left; `None` when there was none.
    pub(crate) fn read(file: &Path) -> Option<Soak> {
        let soak: Soak = serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()?;
        (!soak.samples.is_empty()).then_some(soak)
    }
}
