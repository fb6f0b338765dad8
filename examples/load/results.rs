//! What was measured, as rows of one table.

pub(crate) mod file;
pub(crate) mod machine;
pub(crate) mod peers;

use std::fmt::Write as _;

/// A goal of the product, and whether the figure reaches it.
pub(crate) struct Reach {
    goal: String,
    met: bool,
}

impl Reach {
    pub(crate) fn new(goal: impl Into<String>, met: bool) -> Reach {
        Reach { goal: goal.into(), met }
    }
}

/// One line of the table.
pub(crate) struct Row {
    what: String,
    measured: String,
    beside: String,
    reach: Vec<Reach>,
}

impl Row {
    pub(crate) fn new(what: impl Into<String>, measured: impl Into<String>) -> Row {
        Row { what: what.into(), measured: measured.into(), beside: String::new(), reach: Vec::new() }
    }

    /// What the figure is compared with.
    pub(crate) fn beside(mut self, beside: impl Into<String>) -> Row {
        self.beside = beside.into();
        self
    }

    pub(crate) fn reach(mut self, goal: impl Into<String>, met: bool) -> Row {
        self.reach.push(Reach::new(goal, met));
        self
    }
}

/// The table in Markdown.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = String::from("| | measured | beside it | Reach |\n|---|---|---|---|\n");
    for row in rows {
        let verdict = |reach: &Reach| format!("{}: {}", reach.goal, if reach.met { "met" } else { "**not met**" });
        let reach: Vec<String> = row.reach.iter().map(verdict).collect();
        let _ = writeln!(text, "| {} | {} | {} | {} |", row.what, row.measured, row.beside, reach.join("; "));
    }
    text
}

/// A count with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rates are small and not negative")]
pub(crate) fn per_second(rate: f64) -> String {
    format!("{}/s", grouped(rate.round() as u64))
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
pub(crate) fn mb(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
pub(crate) fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}
