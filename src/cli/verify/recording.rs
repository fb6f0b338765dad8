//! A recorded request: a file with what went over the wire.

use anyhow::{bail, ensure};

/// A request, read from its file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Recording {
    /// Names in lower case, in the order of the file.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// What the reader of the file should know about it.
    pub(super) notes: Vec<String>,
}

/// Reads a request line, which may be missing, header lines, an empty line and the body. Lines end with CR LF or LF.
pub(super) fn read(file: &[u8]) -> anyhow::Result<Recording> {
    let mut headers = Vec::new();
    let mut rest = file;
    for number in 1.. {
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
            bail!("the request has no empty line between its headers and its body");
        };
        let (line, after) = (&rest[..end], &rest[end + 1..]);
        rest = after;
        let line = text(line.strip_suffix(b"\r").unwrap_or(line));
        match line.split_once(':') {
            _ if line.is_empty() && number > 1 => break,
            _ if number == 1 && is_request_line(&line) => {}
            Some((name, value)) if is_name(name) => {
                let value = value.trim_matches([' ', '\t']);
                headers.push((name.to_ascii_lowercase(), value.to_owned()));
            }
            _ => bail!("line {number} of the request is not NAME: VALUE"),
        }
    }
    let mut recording = Recording { headers, body: rest.to_vec(), notes: Vec::new() };
    recording.fit_length()?;
    Ok(recording)
}

impl Recording {
    /// Editors end a file with a line end that was never sent: what is behind the declared length goes.
    fn fit_length(&mut self) -> anyhow::Result<()> {
        let value =
            |wanted: &str| self.headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
        ensure!(
            value("transfer-encoding").is_none_or(|value| !value.eq_ignore_ascii_case("chunked") || !self.is_chunked()),
            "the body is still in chunks; record it the way a program gets it, without the lengths between"
        );
        let Some(declared) = value("content-length").and_then(|value| value.parse::<usize>().ok()) else {
            return Ok(());
        };
        let length = self.body.len();
        if declared < length {
            self.body.truncate(declared);
            self.notes
                .push(format!("of its {length} bytes the file's last ones are left out: Content-Length is {declared}"));
        } else if declared > length {
            self.notes
                .push(format!("Content-Length says {declared} bytes, the file has {length}: something is missing"));
        }
        Ok(())
    }

    /// Whether the body begins with the length of a chunk.
    fn is_chunked(&self) -> bool {
        let line = self.body.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let size = line.trim_ascii();
        self.body.ends_with(b"0\r\n\r\n") && !size.is_empty() && size.iter().all(u8::is_ascii_hexdigit)
    }
}

/// `POST /path HTTP/1.1`, or without the version.
fn is_request_line(line: &str) -> bool {
    let mut words = line.split(' ');
    let method = words.next().unwrap_or_default();
    !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase()) && words.next().is_some()
}

/// A token of RFC 9110, 5.6.2.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Header bytes that are not UTF-8 are Latin-1, as the gateway takes them.
fn text(line: &[u8]) -> String {
    match std::str::from_utf8(line) {
        Ok(text) => text.to_owned(),
        Err(_) => line.iter().map(|byte| char::from(*byte)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn a_request_is_read_as_it_went_over_the_wire() {
        let read = read(b"POST /webhooks/a:b HTTP/1.1\r\nX-Sig:  a:b \r\nX-Sig: c\r\n\r\n{\n}\r\n").unwrap();
        assert_eq!(read.headers, [pair("x-sig", "a:b"), pair("x-sig", "c")]);
        assert_eq!((read.body.as_slice(), read.notes.len()), (b"{\n}\r\n".as_slice(), 0));
    }

    #[test]
    fn the_request_line_may_be_missing_and_lines_may_end_with_lf() {
        let read = read(b"X-A: \xe9\n\nbody").unwrap();
        assert_eq!((read.headers, read.body), (vec![pair("x-a", "\u{e9}")], b"body".to_vec()));
    }

    #[test]
    fn what_an_editor_added_is_left_out_and_said() {
        let longer = read(b"POST / HTTP/1.1\nContent-Length: 2\n\n{}\n").unwrap();
        assert_eq!(longer.body, b"{}");
        assert!(longer.notes[0].contains("of its 3 bytes"), "{:?}", longer.notes);
        let shorter = read(b"Content-Length: 9\n\n{}").unwrap();
        assert!(shorter.body == b"{}" && shorter.notes[0].contains("missing"), "{shorter:?}");
    }

    #[test]
    fn what_is_no_request_is_refused_with_its_line() {
        assert!(read(b"").unwrap_err().to_string().contains("no empty line"));
        assert!(read(b"POST / HTTP/1.1\nno header\n\n").unwrap_err().to_string().contains("line 2"));
        assert!(
            read(b"Transfer-Encoding: chunked\n\n2\r\n{}\r\n0\r\n\r\n").unwrap_err().to_string().contains("chunks")
        );
    }
}
