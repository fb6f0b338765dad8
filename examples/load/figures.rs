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
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |part| self.quantile(part).as_secs_f64() * 1000.0;
        write!(f, "p50 {:.2} ms, p99 {:.2} ms, max {:.2} ms ({} times)", ms(0.5), ms(0.99), ms(1.0), self.0.len())
    }
}
