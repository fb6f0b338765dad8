//! Times of many equal things, summed up.

use std::fmt;
use std::time::Duration;

/// Times in the order of their length.
pub(crate) struct Figures(Vec<Duration>);

impl Figures {
    pub(crate) fn new(mut times: Vec<Duration>) -> Figures {
        times.sort_unstable();
        Figures(times)
    }

    pub(crate) fn quantile(&self, part: f64) -> Duration {
        let last = self.0.len().saturating_sub(1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index"
        )]
        let at = (last as f64 * part).round() as usize;
        self.0.get(at).copied().unwrap_or_default()
    }

    /// Median, 99th percentile and largest.
    pub(crate) fn short(&self) -> String {
        let [p50, p99, max] = [0.5, 0.99, 1.0].map(|part| ms(self.quantile(part)));
        format!("p50 {p50}, p99 {p99}, max {max}")
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} times)", self.short(), self.0.len())
    }
}

/// A time in milliseconds, short ones with more digits.
pub(crate) fn ms(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1000.0;
    match ms {
        ..0.1 => format!("{ms:.4} ms"),
        0.1..10.0 => format!("{ms:.2} ms"),
        10.0..100.0 => format!("{ms:.1} ms"),
        _ => format!("{ms:.0} ms"),
    }
}
