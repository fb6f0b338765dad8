//! The text of a `.env` file.

use std::collections::BTreeMap;

use crate::variables::is_name;

/// What a `.env` file says, with line numbers from 1. No message holds a part of the file: it is full of secrets.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Dotenv {
    /// Name and value; of a name that stands twice the last.
    pub(super) values: BTreeMap<String, String>,
    /// Lines that cannot be read.
    pub(super) faults: Vec<(usize, &'static str)>,
    /// Names whose value holds `${` outside single quotes: other readers would replace it.
    pub(super) references: Vec<(usize, String)>,
}

pub(super) fn read(text: &str) -> Dotenv {
    let mut out = Dotenv::default();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut number = 1;
    while !rest.is_empty() {
        let (line, _) = split_line(rest);
        let used = match assignment(line) {
            None => line.len(),
            Some(Err(message)) => {
                out.faults.push((number, message));
                line.len()
            }
            Some(Ok((name, before))) => value(&rest[before..], number, name, &mut out) + before,
        };
        // A value in quotes may have gone over several lines.
        let (_, after) = split_line(&rest[used..]);
        number += rest[..rest.len() - after.len()].matches('\n').count();
        rest = after;
    }
    out
}

/// The first line without its end, and what follows.
fn split_line(text: &str) -> (&str, &str) {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    (line.strip_suffix('\r').unwrap_or(line), rest)
}

/// The name of `NAME=…` and where its value begins; `None` for an empty line or a comment.
fn assignment(line: &str) -> Option<Result<(&str, usize), &'static str>> {
    let trimmed = line.trim_start();
    if trimmed.is_empty() || trimmed.starts_with('#') {
        return None;
    }
    let Some((name, after)) = line.split_once('=') else { return Some(Err("not NAME=value")) };
    let name = name.trim();
    let name = name.strip_prefix("export").filter(|rest| rest.starts_with([' ', '\t'])).map_or(name, str::trim);
    let value = after.trim_start();
    Some(if is_name(name) { Ok((name, line.len() - value.len())) } else { Err("not NAME=value") })
}

/// Reads the value at the beginning of `text`; returns its length.
fn value(text: &str, number: usize, name: &str, out: &mut Dotenv) -> usize {
    let quote = text.chars().next().filter(|c| "'\"".contains(*c));
    let read = quote.map_or_else(|| Ok(bare(text)), |quote| in_quotes(text, quote));
    let (value, used) = match read {
        Ok(read) => read,
        Err((message, used)) => {
            out.faults.push((number, message));
            return used;
        }
    };
    if quote != Some('\'') && value.contains("${") {
        out.references.push((number, name.to_owned()));
    }
    out.values.insert(name.to_owned(), value);
    used
}

/// A value without quotes: to the end of the line, or to a `#` with white space before it.
fn bare(text: &str) -> (String, usize) {
    let line = split_line(text).0;
    let end = if line.starts_with('#') { 0 } else { line.find(" #").or(line.find("\t#")).unwrap_or(line.len()) };
    (line[..end].trim_end().to_owned(), line.len())
}

/// A value in quotes, after which only a comment may stand. The error has the length to go on after.
fn in_quotes(text: &str, quote: char) -> Result<(String, usize), (&'static str, usize)> {
    let unclosed = || ("the quote is never closed", split_line(text).0.len());
    let (value, used) = quoted(&text[1..], quote).ok_or_else(unclosed)?;
    let rest = split_line(&text[1 + used..]).0.trim_start();
    if rest.is_empty() || rest.starts_with('#') {
        Ok((value, 1 + used))
    } else {
        Err(("something follows the closing quote", 1 + used))
    }
}

/// The text up to the closing quote, and how much was used, the quote included.
fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            _ if c == quote => return Some((out, at + 1)),
            '\\' if quote == '"' => {
                let (_, next) = chars.next()?;
                match next {
                    'n' => out.push('\n'),
                    'r' => out.push('\r'),
                    't' => out.push('\t'),
                    '"' | '\\' | '$' => out.push(next),
                    _ => out.extend(['\\', next]),
                }
            }
            _ => out.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(text: &str) -> String {
        let read = read(text);
        assert_eq!(read.faults, [], "{text}");
        read.values["A"].clone()
    }

    #[test]
    fn values_are_what_is_written() {
        for (line, value) in [
            ("A=b", "b"),
            ("  export A = b c  ", "b c"),
            ("A=pa$word", "pa$word"),
            ("A=b#c # note", "b#c"),
            ("A=# note", ""),
            ("A=", ""),
            ("A='b # $c\\n'", "b # $c\\n"),
            (r#"A="b\n\"\\\$\q" # note"#, "b\n\"\\$\\q"),
            ("A=b=c==", "b=c=="),
            ("A='one\ntwo'\nB=3", "one\ntwo"),
            ("\u{feff}A=b\r\n", "b"),
            ("A=1\nA=2", "2"),
            ("# A=0\n\nA=1", "1"),
        ] {
            assert_eq!(one(line), value, "{line}");
        }
        assert_eq!(read("A='one\ntwo'\nB=3").values["B"], "3");
    }

    #[test]
    fn what_cannot_be_read_is_named_by_its_line() {
        assert_eq!(read("A=1\nwhat\n=x\n1A=x\nB=2").faults, [2, 3, 4].map(|line| (line, "not NAME=value")));
        assert_eq!(read("A='x\ny").faults, [(1, "the quote is never closed"), (2, "not NAME=value")]);
        assert_eq!(read("A='x\ny' z\nB=1").faults, [(1, "something follows the closing quote")]);
        assert_eq!(read("A='x\ny' z\nB=1").values["B"], "1");
    }

    #[test]
    fn references_are_told_unless_in_single_quotes() {
        assert_eq!(read("A=${B}\nC='${B}'\nD=\"\n${B}\"").references, [(1, "A".to_owned()), (3, "D".to_owned())]);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[AB='\"\\\\# \n\r$]{0,40}|(?s).*") {
            read(&text);
        }

        #[test]
        fn quoted_values_read_back(value in "(?s).*") {
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
            prop_assert_eq!(one(&format!("A=\"{escaped}\"")), value);
        }
    }
}
