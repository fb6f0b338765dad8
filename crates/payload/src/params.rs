//! Header values of the form `value; name=token; name="quoted"` (RFC 9110 section 5.6.6).

/// A header value split into its first item and its parameters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Params {
    /// What stands before the first semicolon, lower-cased and trimmed.
    pub(crate) first: String,
    params: Vec<(String, String)>,
}

impl Params {
    /// Splits a header value. Malformed parameters are skipped: who needs one notices that it is missing.
    pub(crate) fn read(value: &str) -> Self {
        let (first, mut rest) = value.split_once(';').unwrap_or((value, ""));
        let mut params = Vec::new();
        while !rest.is_empty() {
            let end = rest.find(['=', ';']).unwrap_or(rest.len());
            let name = rest[..end].trim().to_ascii_lowercase();
            if !rest[end..].starts_with('=') {
                rest = rest.get(end + 1..).unwrap_or_default();
                continue;
            }
            let written = rest[end + 1..].trim_start();
            let (value, after) = match written.strip_prefix('"') {
                Some(inside) => quoted(inside),
                None => token(written),
            };
            params.push((name, value));
            rest = after;
        }
        Self { first: first.trim().to_ascii_lowercase(), params }
    }

    /// The value of a parameter (name in lower case); of several with one name the first.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A bare value up to the next semicolon, and what follows that.
fn token(written: &str) -> (String, &str) {
    let (value, after) = written.split_once(';').unwrap_or((written, ""));
    (value.trim().to_owned(), after)
}

/// A quoted value (its opening quote already taken), and what follows the next semicolon.
///
/// Only `\"` and `\\` are escapes: browsers send the backslashes of Windows paths as they are.
fn quoted(inside: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = inside.char_indices().peekable();
    let mut end = inside.len();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                end = at + 1;
                break;
            }
            '\\' => value.push(chars.next_if(|(_, next)| matches!(next, '"' | '\\')).map_or('\\', |(_, next)| next)),
            _ => value.push(c),
        }
    }
    (value, inside[end..].split_once(';').map_or("", |(_, after)| after))
}

#[cfg(test)]
mod tests {
    use super::Params;

    #[test]
    fn parameters_are_read_bare_and_quoted() {
        let read = Params::read(r#"Form-Data; NAME = a b ; file="x;\"y\" C:\dir\\"; empty=; n="#);
        assert_eq!(read.first, "form-data");
        assert_eq!(read.get("name"), Some("a b"));
        assert_eq!(read.get("file"), Some(r#"x;"y" C:\dir\"#));
        assert_eq!(read.get("empty"), Some(""));
        assert_eq!(read.get("n"), Some(""));
        assert_eq!(read.get("other"), None);
    }

    #[test]
    fn malformed_parameters_are_skipped() {
        let read = Params::read("text/plain;; charset ; boundary=\"open");
        assert_eq!((read.first.as_str(), read.get("charset")), ("text/plain", None));
        assert_eq!(read.get("boundary"), Some("open"));
        assert_eq!(Params::read("").first, "");
    }

    #[test]
    fn the_first_of_two_parameters_counts() {
        assert_eq!(Params::read("a; b=1; b=2").get("b"), Some("1"));
    }
}
