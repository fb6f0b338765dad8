//! What holds for every body and every content type.

use doorbell_payload::{MAX_DEPTH, ParseError, inflate, parse, parse_json};
use proptest::prelude::*;
use serde_json::{Value, json};

const TYPES: [&str; 12] = [
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=b",
    "multipart/form-data",
    "application/xml",
    "text/plain",
    "text/plain; charset=utf-16",
    "application/octet-stream",
    "image/png",
    "application/vnd.api+json",
    "a; b=\"",
    "",
];

/// Bytes that lean towards what the parsers look for.
fn any_body() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<u8>().prop_map(|byte| vec![byte]),
        prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            "\"",
            "\\u",
            "\\ud83d",
            ":",
            ",",
            "1e",
            "-",
            "0",
            "null",
            "<a>",
            "</a>",
            "<a b='",
            "'/>",
            "&#",
            "&lt;",
            "<![CDATA[",
            "]]>",
            "<!DOCTYPE ",
            "<!--",
            "-->",
            "<?",
            "?>",
            "%",
            "%f",
            "+",
            "&",
            "=",
            "payload=",
            "\r\n",
            "--b",
            "--",
            "Content-Disposition: form-data; name=a",
            "; filename=\"x",
            "filename*=utf-8''%",
            "\r\n\r\n",
            "\u{feff}",
            " ",
            "é",
        ])
        .prop_map(|piece| piece.as_bytes().to_vec()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_body_is_a_bounded_payload_or_an_error(body in any_body(), kind in prop::sample::select(&TYPES[..])) {
        match parse(&body, Some(kind)) {
            Ok(payload) => {
                prop_assert!(depth(&payload) <= MAX_DEPTH);
                prop_assert_eq!(parse_json(payload.to_string().as_bytes()).unwrap(), payload);
            }
            Err(why) => prop_assert!(why.to_string().len() < 300),
        }
    }

    #[test]
    fn any_content_type_is_read(body in any_body(), kind in any::<String>()) {
        prop_assert!(parse(&body, Some(&kind)).map_or_else(|why| !why.to_string().is_empty(), |payload| depth(&payload) <= MAX_DEPTH));
    }

    #[test]
    fn any_content_encoding_is_read(body in any_body(), encoding in any::<String>()) {
        prop_assert!(inflate(&body, Some(&encoding), 100).map_or(true, |data| data.len() <= 100));
    }

    #[test]
    fn forms_come_back(fields in prop::collection::vec((any::<String>(), any::<String>()), 1..20)) {
        prop_assume!(fields.iter().all(|(name, _)| name != "payload"));
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(&fields).finish();
        let payload = parse(body.as_bytes(), Some("application/x-www-form-urlencoded")).unwrap();
        for (name, _) in &fields {
            let values: Vec<&String> = fields.iter().filter(|(other, _)| other == name).map(|(_, value)| value).collect();
            let want = if let [single] = values[..] { json!(single) } else { json!(values) };
            prop_assert_eq!(&payload[name.as_str()], &want);
        }
    }

    #[test]
    fn errors_never_repeat_the_body(kind in prop::sample::select(&TYPES[..]), before in "[{\\[<&%=\"]{0,4}") {
        let body = format!("{before}hunter2 oops{before}");
        if let Err(why) = parse(body.as_bytes(), Some(kind)) {
            prop_assert!(!why.to_string().contains("hunter"), "{}", why);
            let debug = format!("{why:?}");
            prop_assert!(!debug.contains("hunter"), "{}", debug);
        }
    }
}

#[test]
fn unknown_types_are_json_or_an_error() {
    assert_eq!(parse(b"{\"a\":1}", Some("application/octet-stream")), Ok(json!({"a": 1})));
    for body in [&b"\x89PNG\r\n"[..], b"plain"] {
        let why = parse(body, Some("Image/PNG; q=1")).unwrap_err().to_string();
        assert_eq!(why, "body: image/png is no content type that can be read, and the body is not JSON");
    }
}

#[test]
fn without_a_content_type_only_json_is_read() {
    assert_eq!(parse(b"{\"a\":\"ok\"}", None), Ok(json!({"a": "ok"})));
    assert!(parse(b"a=1&b=2", None).is_err());
    assert!(parse(b"<a/>", None).is_err());
}

#[test]
fn an_empty_body_is_an_empty_object_whatever_its_type() {
    for kind in TYPES {
        for body in ["", " \r\n", "\u{feff}"] {
            assert_eq!(parse(body.as_bytes(), Some(kind)), Ok(json!({})), "{kind}");
        }
    }
}

#[test]
fn depth_is_bounded_for_every_type() {
    let is_deep =
        |result: Result<Value, ParseError>| result.unwrap_err().to_string().contains("nested deeper than 128 levels");
    let deep = "[".repeat(129) + &"]".repeat(129);
    let part = format!("--b\r\nContent-Disposition: form-data; name=payload\r\n\r\n{deep}\r\n--b--");
    assert!(is_deep(parse(deep.as_bytes(), Some("application/json"))));
    assert!(is_deep(parse(deep.as_bytes(), Some("application/octet-stream"))));
    assert!(is_deep(parse(deep.as_bytes(), Some("text/plain"))));
    assert!(is_deep(parse(format!("payload={deep}").as_bytes(), Some("application/x-www-form-urlencoded"))));
    assert!(is_deep(parse(part.as_bytes(), Some("multipart/form-data; boundary=b"))));
    assert!(is_deep(parse("<a>".repeat(129).as_bytes(), Some("text/xml"))));
}
