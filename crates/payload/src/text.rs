//! Bodies as text: UTF-8 and nothing else, and what becomes of plain text.

use serde_json::{Value, json};

use crate::error::ParseError;
use crate::json;
use crate::kind::ContentType;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Whether nothing but blanks of JSON (and a byte-order mark) is there.
pub(crate) fn is_blank(body: &[u8]) -> bool {
    let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
    body.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// The body as text without its byte-order mark.
///
/// Senders mislabel UTF-8 as Latin-1 and the reverse, so the bytes decide and not the declared charset. The exception
/// are the wide charsets: their ASCII text is valid UTF-8 full of NULs and would become garbage.
pub(crate) fn decode<'a>(body: &'a [u8], declared: &ContentType) -> Result<&'a str, ParseError> {
    let body = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
    let charset = declared.param("charset").unwrap_or_default().to_ascii_lowercase();
    let wide = ["utf-16", "utf-32", "utf16", "utf32", "ucs-"].iter().any(|prefix| charset.starts_with(prefix));
    if wide && body.contains(&0) {
        return Err(ParseError::whole("body", "UTF-16 and UTF-32 cannot be read; send UTF-8"));
    }
    std::str::from_utf8(body).map_err(|wrong| ParseError::at_byte("body", wrong.valid_up_to(), "not UTF-8"))
}

/// Plain text: the JSON that it holds (AWS SNS sends JSON as `text/plain`), else `{"text": …}`.
pub(crate) fn parse(text: &str) -> Result<Value, ParseError> {
    match json::parse(text) {
        Err(why) if !why.is_too_deep() => Ok(json!({ "text": text })),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::parse;

    #[test]
    fn text_is_json_when_it_parses() {
        let sns = br#"{"Type":"Notification","MessageId":"m-1","Message":"{\"AlarmName\":\"cpu\"}"}"#;
        let want = json!({"Type": "Notification", "MessageId": "m-1", "Message": "{\"AlarmName\":\"cpu\"}"});
        assert_eq!(parse(sns, Some("text/plain; charset=UTF-8")).unwrap(), want);
        assert_eq!(parse(b"42", Some("text/plain")).unwrap(), json!(42));
    }

    #[test]
    fn other_text_is_kept_whole() {
        for text in ["disk is full", "[ERROR] disk", "{almost: json}", " padded \n", "a\u{0}b", "gr\u{fc}n"] {
            assert_eq!(parse(text.as_bytes(), Some("text/plain")).unwrap(), json!({ "text": text }));
        }
        assert_eq!(parse(b"\xEF\xBB\xBFhi", Some("text/csv")).unwrap(), json!({"text": "hi"}));
    }

    #[test]
    fn text_nested_too_deeply_is_refused() {
        let error = parse("[".repeat(129).as_bytes(), Some("text/plain")).unwrap_err();
        assert_eq!(error.to_string(), "JSON: nested deeper than 128 levels at line 1, column 129");
    }

    #[test]
    fn bytes_decide_and_not_the_declared_charset() {
        assert_eq!(parse("é".as_bytes(), Some("text/plain; charset=iso-8859-1")).unwrap(), json!({"text": "é"}));
        let latin = parse(b"caf\xe9", Some("text/plain; charset=iso-8859-1")).unwrap_err();
        assert_eq!(latin.to_string(), "body: not UTF-8 at byte 3");
        let wide = parse(b"h\0i\0", Some("text/plain; charset=\"UTF-16LE\"")).unwrap_err();
        assert!(wide.to_string().contains("send UTF-8"), "{wide}");
        assert_eq!(parse(b"hi", Some("text/plain; charset=utf-16")).unwrap(), json!({"text": "hi"}));
    }
}
