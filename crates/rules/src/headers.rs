//! Headers of a request, by name.

use std::borrow::Cow;

/// A header's value, by its name in lower case; of one that came several times all values, joined as HTTP joins them.
pub fn value<'a>(headers: &'a [(String, String)], name: &str) -> Option<Cow<'a, str>> {
    let mut values = headers.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let first = values.next()?;
    let rest: Vec<_> = values.collect();
    Some(if rest.is_empty() { Cow::Borrowed(first) } else { Cow::Owned(format!("{first}, {}", rest.join(", "))) })
}
