use proptest::prelude::*;
use serde_json::json;

use super::*;

fn json_of(value: &Value) -> Result<Answer, OutputError> {
    read(Output::Json, value.to_string().as_bytes(), None)
}

#[test]
fn text_is_trimmed_and_may_not_be_empty() {
    assert_eq!(read(Output::Text, b"\n  the answer \n\n", None).unwrap().text, "the answer");
    for empty in [&b""[..], b" \n\t ", "\u{a0}\n".as_bytes()] {
        let error = read(Output::Text, empty, None).unwrap_err();
        assert!(error.to_string().contains("empty_answer"), "{error}");
    }
}

#[test]
fn text_that_is_not_utf8_is_kept_as_far_as_it_is() {
    assert_eq!(read(Output::Text, b"a\xffb", None).unwrap().text, "a\u{fffd}b");
}

#[test]
fn cut_text_is_marked_and_ends_with_a_whole_character() {
    let answer = read(Output::Text, &"zü".as_bytes()[..2], Some(2)).unwrap();
    assert_eq!(answer.text, "z\n[output cut at 2 bytes]");
    assert_eq!(read(Output::Text, b"z\xff", Some(2)).unwrap().text, "z\u{fffd}\n[output cut at 2 bytes]");
    assert_eq!(read(Output::Text, b"   ", Some(3)), Err(OutputError::EmptyAnswer));
}

#[test]
fn json_gives_answer_session_cost_and_usage() {
    let full =
        json!({"answer": " said ", "session_id": "s-1", "cost_usd": 0.5, "usage": {"input_tokens": 3}, "more": 1});
    let answer = json_of(&full).unwrap();
    assert_eq!((answer.text.as_str(), answer.silent, answer.session_id.as_deref()), ("said", false, Some("s-1")));
    assert_eq!((answer.cost_usd, answer.usage), (Some(0.5), Some(json!({"input_tokens": 3}))));
}

#[test]
fn silent_needs_no_answer() {
    assert_eq!(json_of(&json!({"silent": true})).unwrap(), Answer { silent: true, ..Answer::default() });
    assert!(json_of(&json!({"answer": "kept", "silent": true})).unwrap().silent);
    for nothing in [json!({}), json!({"answer": null}), json!({"answer": " "}), json!({"silent": false})] {
        assert_eq!(json_of(&nothing), Err(OutputError::EmptyAnswer), "{nothing}");
    }
}

#[test]
fn json_of_another_shape_is_an_error_that_names_the_place() {
    for (value, word) in [
        (json!({"answer": 5}), "`answer`"),
        (json!({"answer": "a", "silent": "yes"}), "`silent`"),
        (json!({"answer": "a", "session_id": 7}), "`session_id`"),
        (json!({"answer": "a", "cost_usd": -1}), "`cost_usd`"),
        (json!({"answer": "a", "cost_usd": "1"}), "`cost_usd`"),
        (json!({"answer": "a", "usage": [1]}), "`usage`"),
        (json!(["answer"]), "not an object"),
    ] {
        let error = json_of(&value).unwrap_err().to_string();
        assert!(error.contains(word), "{value}: {error}");
    }
}

#[test]
fn what_is_not_json_is_an_error_that_does_not_quote_it() {
    for text in ["token-abc is out", "{\"answer\": \"token-abc\"", "{\"answer\":\"a\"} token-abc"] {
        let error = read(Output::Json, text.as_bytes(), None).unwrap_err();
        assert!(matches!(error, OutputError::NotJson(_)) && !error.to_string().contains("token-abc"), "{error}");
    }
    assert_eq!(read(Output::Json, b"{\"answer\":\"a\"}", Some(9)), Err(OutputError::CutJson(9)));
    assert_eq!(read(Output::Json, b" \n", None), Err(OutputError::EmptyAnswer));
}

proptest! {
    #[test]
    fn any_output_is_judged(stdout: Vec<u8>, cut: Option<u64>) {
        if let Ok(answer) = read(Output::Text, &stdout, cut) {
            prop_assert!(!answer.text.is_empty());
            prop_assert_eq!(answer.text.contains("[output cut at"), cut.is_some());
        }
        let _ = read(Output::Json, &stdout, cut);
    }

    #[test]
    fn a_cut_tears_no_character(text in "[a-zü€😀]{1,40}", at in 1_usize..80) {
        let at = at.min(text.len());
        let Ok(answer) = read(Output::Text, &text.as_bytes()[..at], Some(1)) else { return Ok(()) };
        let kept = answer.text.strip_suffix("\n[output cut at 1 bytes]").unwrap();
        prop_assert!(text.starts_with(kept) && kept.len() + 4 > at, "{} of {}", kept, text);
    }
}
