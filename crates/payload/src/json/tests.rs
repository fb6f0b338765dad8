use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{MAX_DEPTH, parse_json};

fn read(body: &str) -> Result<Value, String> {
    parse_json(body.as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn every_top_level_kind_is_a_payload() {
    for (body, want) in [
        (r#"{"a":1}"#, json!({"a": 1})),
        ("[1,2]", json!([1, 2])),
        ("[]", json!([])),
        (r#""text""#, json!("text")),
        ("42", json!(42)),
        ("null", json!(null)),
        ("true", json!(true)),
        (" false\r\n\t", json!(false)),
    ] {
        assert_eq!(read(body), Ok(want));
    }
}

#[test]
fn empty_and_blank_bodies_are_an_empty_object() {
    for body in ["", " ", "\r\n\t ", "\u{feff}", "\u{feff} \n"] {
        assert_eq!(read(body), Ok(json!({})));
    }
}

#[test]
fn a_byte_order_mark_is_skipped_once() {
    assert_eq!(read("\u{feff}{\"a\":1}"), Ok(json!({"a": 1})));
    assert!(read("\u{feff}\u{feff}{}").is_err());
}

#[test]
fn lenient_spellings_are_refused() {
    let refused = [
        "{",
        "[",
        "[1",
        "[1,",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "\"a",
        "\"a\\",
        "\"\\u12",
        "-",
        "1.",
        "1e",
        "1e+",
        ".5",
        "+1",
        r#"{"a":NaN}"#,
        r#"{"a":Infinity}"#,
        r#"{"a":-Infinity}"#,
        "{'a':1}",
        r#"{"a":1,}"#,
        "[1,]",
        "[,1]",
        "[1 2]",
        r#"{"a":1}{"b":2}"#,
        "{\"a\":\"x\ny\"}",
        r#"{"a":01}"#,
        "-01",
        "00",
        "0x10",
        "1_000",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "// c\n1",
        "1 // c",
        "/* c */ 1",
        r#""\x41""#,
        r#""\u{41}""#,
        r#""\'""#,
        r#""\u00g0""#,
        r#""\u+123""#,
        "tru",
        "True",
        "nulll",
        "\"\t\"",
        "\"\u{0}\"",
        "\u{c}1",
        "\u{a0}1",
        "]",
        "}",
        ",",
        ":",
        "[}",
        "{]",
    ];
    for body in refused {
        assert!(read(body).is_err(), "{body}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_refused() {
    let error = parse_json(b"{\"a\":\"\xff\"}").unwrap_err();
    assert_eq!(error.to_string(), "body: not UTF-8 at byte 6");
    assert!(parse_json(b"\"\xed\xa0\x80\"").is_err());
    assert!(parse_json(b"\xff\xfe{\0}\0").is_err());
}

#[test]
fn errors_tell_the_place_and_not_the_body() {
    assert_eq!(
        read("{\u{201c}alert\u{201d}: 1}"),
        Err("JSON: expected a key in double quotes at line 1, column 2".into())
    );
    assert_eq!(read("{\n  \"é\": oops\n}"), Err("JSON: expected a value at line 2, column 8".into()));
    let error = read(r#"{"secret":"hunter2" oops}"#).unwrap_err();
    assert_eq!(error, "JSON: expected `,` or `}` at line 1, column 21");
}

#[test]
fn numbers_keep_their_text() {
    let numbers = [
        "1152921506151679042",
        "12345678901234567890123456789",
        "-9223372036854775809",
        "9007199254740993",
        "1e400",
        "1.10",
        "-0",
        "0",
        "-0.0",
        "1E5",
        "1e+5",
        "1e-5",
        "0.10000000000000000000000001",
        "18446744073709551616",
        "1E-400",
        "0e0",
    ];
    for number in numbers {
        assert_eq!(read(number).unwrap().to_string(), number);
        assert_eq!(read(&format!("{{\"a\":[{number}]}}")).unwrap().to_string(), format!("{{\"a\":[{number}]}}"));
    }
    assert_eq!(read("42").unwrap().as_u64(), Some(42));
    assert_eq!(read("-1").unwrap(), json!(-1));
    assert_eq!(read("1.5").unwrap().as_f64(), Some(1.5));
}

#[test]
fn of_duplicate_keys_the_last_wins() {
    assert_eq!(read(r#"{"k":"first","z":1,"k":"last"}"#), Ok(json!({"k": "last", "z": 1})));
    assert_eq!(read(r#"{"k":1,"\u006b":2}"#), Ok(json!({"k": 2})));
}

#[test]
fn the_order_of_keys_is_kept() {
    assert_eq!(read(r#"{"z":1,"a":2,"m":3}"#).unwrap().to_string(), r#"{"z":1,"a":2,"m":3}"#);
}

#[test]
fn escapes_are_decoded() {
    assert_eq!(read(r#""\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00\u0000""#), Ok(json!("\"\\/\u{8}\u{c}\n\r\té😀\u{0}")));
    assert_eq!(read(r#"{"t":"a\u0000b"}"#), Ok(json!({"t": "a\u{0}b"})));
    assert_eq!(read("\"\u{7f}\u{2028}\""), Ok(json!("\u{7f}\u{2028}")));
}

#[test]
fn half_a_surrogate_pair_is_the_replacement_character() {
    for (body, want) in [
        (r#""cut \ud83d""#, "cut \u{fffd}"),
        (r#""\ude00 x""#, "\u{fffd} x"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
        (r#""\ud83d\n""#, "\u{fffd}\n"),
        (r#""\ud83dé\ude00""#, "\u{fffd}é\u{fffd}"),
        (r#""\ud83d\u0041""#, "\u{fffd}A"),
        (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
        (r#""\\ud83d""#, "\\ud83d"),
    ] {
        assert_eq!(read(body), Ok(json!(want)), "{body}");
    }
    assert_eq!(read(r#"{"\ud83d":1}"#), Ok(json!({"\u{fffd}": 1})));
    assert!(read(r#""\ud83d\u12""#).is_err());
}

#[test]
fn private_keys_of_the_library_are_ordinary_keys() {
    for key in ["$serde_json::private::Number", "$serde_json::private::RawValue"] {
        for value in ["\"12\"", "\"x\"", "12", "{}", "[1]", "null"] {
            for body in [format!("{{\"{key}\":{value}}}"), format!("{{\"{key}\":{value},\"b\":1}}")] {
                let payload = read(&body).unwrap();
                assert!(payload.is_object());
                assert_eq!(payload.to_string(), body);
            }
        }
    }
}

#[test]
fn nesting_is_bounded() {
    let lists = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let objects = |depth: usize| "{\"a\":".repeat(depth) + "1" + &"}".repeat(depth);
    assert_eq!(read(&lists(128)).unwrap().to_string(), lists(128));
    assert_eq!(read(&objects(128)).unwrap().to_string(), objects(128));
    for deep in [lists(129), objects(129), "[".repeat(100_000), "{\"a\":".repeat(100_000), "[{\"a\":".repeat(65)] {
        assert!(read(&deep).unwrap_err().contains("nested deeper than 128"));
    }
    let brackets_in_text = format!("{{\"a\":\"{}\\\"{}\"}}", "[".repeat(500), "{".repeat(500));
    assert!(read(&brackets_in_text).is_ok());
    assert!(read(&format!("[{}]", vec!["[]"; 1000].join(","))).is_ok());
}

#[test]
fn many_keys_take_linear_time() {
    let body: Vec<String> = (0..100_000).map(|n| format!("\"k{n}\":1")).collect();
    assert_eq!(read(&format!("{{{}}}", body.join(","))).unwrap().as_object().unwrap().len(), 100_000);
    assert_eq!(read(&format!("{{{}}}", vec!["\"k\":1"; 100_000].join(","))), Ok(json!({"k": 1})));
}

/// Whether our parser and `serde_json` agree on a text: both refuse it, or both read the same.
fn agree(body: &str) -> bool {
    match (read(body), serde_json::from_str::<Value>(body)) {
        // Our numbers are spelled as sent, so ours is compared after the same reading.
        (Ok(ours), Ok(theirs)) => serde_json::from_str::<Value>(&ours.to_string()).is_ok_and(|again| again == theirs),
        (Err(_), Err(_)) => true,
        _ => false,
    }
}

/// The deepest nesting of brackets outside strings, counted the simplest way.
fn naive_depth(body: &str) -> usize {
    let (mut depth, mut deepest, mut in_text, mut escaped) = (0_usize, 0, false, false);
    for c in body.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_text => escaped = true,
            '"' => in_text = !in_text,
            '[' | '{' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            ']' | '}' if !in_text => depth -= 1,
            _ => {}
        }
    }
    deepest
}

fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        any::<String>().prop_map(|text| Value::String(text).to_string()),
        r#""(\\u[0-9a-cA-C][0-9a-fA-F]{3}|\\uD83D\\uDE00|\\n|[ -!#-\[\]-~]){0,8}""#,
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        let member =
            (any::<String>(), inner.clone()).prop_map(|(key, value)| format!("{} : {value}", Value::String(key)));
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(|items| format!("[{}]", items.join(" ,\n"))),
            prop::collection::vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(", "))),
        ]
    })
}

proptest! {
    #[test]
    fn json_reads_as_the_library_reads_it(body in any_json()) {
        prop_assert!(read(&body).is_ok(), "{body}");
        prop_assert!(agree(&body), "{body}");
    }

    #[test]
    fn damaged_json_is_judged_as_the_library_judges_it(body in any_json(), at in any::<prop::sample::Index>(), with in "[ -~]{0,2}") {
        let places: Vec<usize> = body.char_indices().map(|(place, _)| place).collect();
        let place = places[at.index(places.len())];
        let damaged = format!("{}{with}{}", &body[..place], &body[place..].chars().skip(1).collect::<String>());
        // Where an escape has lost its other half, or nothing is left, we are more lenient on purpose.
        let lenient = damaged.to_lowercase().contains("\\ud") || damaged.trim().is_empty();
        let refused_by_library = serde_json::from_str::<Value>(&damaged).is_err();
        prop_assert!(agree(&damaged) || lenient && refused_by_library, "{damaged}");
    }

    #[test]
    fn numbers_of_any_length_survive(number in "-?(0|[1-9][0-9]{0,60})(\\.[0-9]{1,60})?([eE][+-]?[0-9]{1,20})?") {
        prop_assert_eq!(read(&number).unwrap().to_string(), number);
    }

    #[test]
    fn the_depth_bound_is_the_number_of_brackets(kinds in prop::collection::vec(any::<bool>(), 100..160), text in "[\\[{}\\]]{0,9}") {
        let mut body = format!("\"{text}\\\"\"");
        for list in kinds {
            body = if list { format!("[[],{body}]") } else { format!("{{\"{text}\":{body}}}") };
        }
        prop_assert_eq!(read(&body).is_ok(), naive_depth(&body) <= MAX_DEPTH);
    }
}
