//! What an agent reads when its route has no `prompt`.

use super::Scope;
use crate::shown;

/// Longer names of events and routes are cut in the first line; in characters.
const LONGEST_NAME: usize = 200;

/// A line that names event and route, then the payload in a fenced block, cut as `{__raw__}` is.
///
/// The payload cannot close the block: its fence is longer than any row of backticks inside. Neither can the event's
/// name, which comes from outside as well, add lines to the first one.
pub fn default_prompt(scope: &Scope) -> String {
    let payload = shown::whole(scope.payload);
    let fence = "`".repeat(longest_row(&payload).max(2) + 1);
    let (event, route) = (one_line(scope.event_type), one_line(scope.route));
    format!("Webhook event \"{event}\" on route \"{route}\". Its payload:\n\n{fence}json\n{payload}\n{fence}")
}

/// The length of the longest row of backticks.
fn longest_row(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

fn one_line(name: &str) -> String {
    let harmless = |c: char| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c };
    name.chars().take(LONGEST_NAME).map(harmless).collect()
}
