//! Secrets and tokens as they are written: what came with them from a file, and what nobody filled in.

use crate::environment::without_line_end;
use crate::path::Path;
use crate::report::Report;

/// Shorter ones can be found by trial.
const SHORT: usize = 16;
/// What to do about a short one.
pub(crate) const A_GOOD_ONE: &str = "`openssl rand -hex 32` makes a good one";

const UNFILLED: &str = "begins like a variable that nobody filled in";
const SPACE: (&str, &str) = ("begins or ends with white space, which is part of it", "take it away if it is not meant");

/// The secret or token at `at`, without the one line end that a file or a block of YAML puts behind it. `None` when it is
/// the text of a variable, which everybody can guess; that is noted.
pub(crate) fn written<'t>(text: &'t str, at: &Path, report: &mut Report) -> Option<&'t str> {
    let value = without_line_end(text);
    if is_unfilled(value) {
        report.fault(at, UNFILLED, "write ${NAME}, and give that variable the secret itself; nothing else is replaced");
        return None;
    }
    if has_space(value) {
        report.warn(at, SPACE.0, SPACE.1);
    }
    Some(value)
}

/// Judges a secret that the variable `name` gives beside the file.
pub(crate) fn given(value: &str, name: &str, report: &mut Report) {
    if is_unfilled(value) {
        report.outside(name, UNFILLED, "give the variable the secret itself: what stands in it is not replaced");
    } else if has_space(value) {
        report.warn_outside(name, SPACE.0, SPACE.1);
    }
}

pub(crate) fn is_short(value: &str) -> bool {
    value.chars().count() < SHORT
}

/// The beginning of a message about a short one.
pub(crate) fn short(why: &str) -> String {
    format!("shorter than {SHORT} characters: {why}")
}

/// `$NAME`, `${NAME}`, `$(command)`: what a shell, a template or another program would have replaced.
fn is_unfilled(value: &str) -> bool {
    let after = value.trim_start().strip_prefix('$').and_then(|rest| rest.chars().next());
    after.is_some_and(|c| c.is_ascii_alphabetic() || "_{(".contains(c))
}

fn has_space(value: &str) -> bool {
    value.trim() != value
}
