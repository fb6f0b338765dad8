use serde_json::{Value, json};

fn form(body: &str) -> Result<Value, String> {
    crate::parse(body.as_bytes(), Some("application/x-www-form-urlencoded")).map_err(|error| error.to_string())
}

#[test]
fn values_are_strings_and_repeated_names_lists() {
    assert_eq!(
        form("From=%2B15005550006&Body=hi+there%21&tag=a&tag=b&empty="),
        Ok(json!({"From": "+15005550006", "Body": "hi there!", "tag": ["a", "b"], "empty": ""}))
    );
    assert_eq!(
        form("n=42&t=true&bare&&=x&a=b=c&"),
        Ok(json!({"n": "42", "t": "true", "bare": "", "": "x", "a": "b=c"}))
    );
    assert_eq!(form("%C3%A9=%e2%82%ac&raw=é"), Ok(json!({"é": "€", "raw": "é"})));
    assert_eq!(form("z=%00&a=1"), Ok(json!({"z": "\u{0}", "a": "1"})));
}

#[test]
fn order_is_kept() {
    assert_eq!(form("z=1&a=2&z=3").unwrap().to_string(), r#"{"z":["1","3"],"a":"2"}"#);
}

#[test]
fn invalid_escapes_are_errors() {
    assert_eq!(form("a=%zz&b=%"), Err("form: % without two hex digits at byte 2".into()));
    assert_eq!(form("a=1&b=%"), Err("form: % without two hex digits at byte 6".into()));
    assert_eq!(form("a=1&%4=x"), Err("form: % without two hex digits at byte 4".into()));
    assert_eq!(form("a=%+1"), Err("form: % without two hex digits at byte 2".into()));
    assert_eq!(form("ok=1&a=%ff"), Err("form: percent escapes that are not UTF-8 in the field at byte 7".into()));
}

#[test]
fn a_payload_field_with_json_is_the_payload() {
    assert_eq!(
        form("payload=%7B%22action%22%3A%22opened%22%2C%22number%22%3A7%7D"),
        Ok(json!({"action": "opened", "number": 7}))
    );
    assert_eq!(form("a=1&payload=[1]"), Ok(json!([1])));
}

#[test]
fn a_payload_field_without_an_object_or_list_is_a_field() {
    for text in ["42", "null", "true", "", "hello", "{broken"] {
        assert_eq!(form(&format!("payload={text}")), Ok(json!({ "payload": text })));
    }
    assert_eq!(form("payload={}&payload={}"), Ok(json!({"payload": ["{}", "{}"]})));
}

#[test]
fn a_payload_field_nested_too_deeply_is_refused() {
    let error = form(&format!("payload={}", "[".repeat(129))).unwrap_err();
    assert!(error.contains("deeper than 128"), "{error}");
}

#[test]
fn the_number_of_fields_is_capped() {
    let body = |count: usize| (0..count).map(|n| format!("k{n}=1")).collect::<Vec<_>>().join("&");
    assert_eq!(form(&body(10_000)).unwrap().as_object().unwrap().len(), 10_000);
    assert!(form(&body(10_001)).unwrap_err().contains("more than 10000 fields"));
    assert_eq!(form(&"k=1&".repeat(10_000)).unwrap()["k"].as_array().unwrap().len(), 10_000);
    assert!(form(&"k=1&".repeat(100_000)).unwrap_err().contains("more than 10000 fields"));
}
