#![allow(clippy::needless_pass_by_value, reason = "JSON is written where it is used")]

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::arbitrary::json as any_json;

fn passes(filters: Value, payload: &Value) -> bool {
    let seen = Seen { payload, event_type: "push", headers: &[("x-team".into(), "ops".into())] };
    Filter::read(&filters).unwrap_or_else(|errors| panic!("{filters}: {errors:?}")).passes(&seen, &|_| Vec::new())
}

#[track_caller]
fn holds(operators: Value, value: Value) {
    assert!(asked(&operators, &json!({"a": value})), "{operators} of {value}");
}

#[track_caller]
fn fails(operators: Value, value: Value) {
    assert!(!asked(&operators, &json!({"a": value})), "{operators} of {value}");
}

fn asked(operators: &Value, payload: &Value) -> bool {
    let mut condition = operators.clone();
    condition["field"] = "a".into();
    passes(condition, payload)
}

#[test]
fn operators_hold_or_not() {
    for value in [json!(1), json!("1"), json!(null), json!([]), json!({})] {
        holds(json!({"exists": true}), value.clone());
        fails(json!({"missing": true}), value.clone());
        fails(json!({"exists": false}), value.clone());
        holds(json!({"missing": false}), value);
    }
    holds(json!({"equals": 5}), json!(5.0));
    fails(json!({"equals": 1}), json!(true));
    fails(json!({"equals": "1"}), json!(1));
    holds(json!({"equals": {"a": [1.0], "b": null}}), json!({"b": null, "a": [1]}));
    holds(json!({"not_equals": "x"}), json!(null));
    holds(json!({"contains": "x"}), json!(["x"]));
    fails(json!({"contains": "x"}), json!(["xy"]));
    holds(json!({"contains": "k"}), json!({"k": 0}));
    holds(json!({"contains": 23}), json!(1234));
    holds(json!({"contains": true}), json!("is true"));
    holds(json!({"icontains": "ÄB"}), json!("xäbx"));
    holds(json!({"icontains": "Bug"}), json!(["BUG"]));
    fails(json!({"icontains": "Bug"}), json!(["BUGS"]));
    holds(json!({"in": [1, "a"]}), json!(1.0));
    fails(json!({"in": [1, 0]}), json!(false));
    holds(json!({"regex": "^v[0-9]+$"}), json!("v12"));
    holds(json!({"regex": "\"a\":1,\"b\":2"}), json!({"b": 2, "a": 1}));
    holds(json!({"gt": 1, "lte": 3}), json!(3));
    fails(json!({"gt": 1, "lte": 3}), json!(1));
    for value in [json!("5"), json!(true), json!(null), json!([5])] {
        fails(json!({"gte": 1}), value.clone());
        fails(json!({"lt": 9}), value);
    }
    holds(json!({"starts_with": "refs/"}), json!("refs/x"));
    holds(json!({"ends_with": "5"}), json!(15));
    fails(json!({"starts_with": "["}), json!(["x"]));
}

#[test]
fn of_what_is_missing_only_its_absence_holds() {
    for operators in [
        json!({"equals": null}),
        json!({"not_equals": 1}),
        json!({"contains": ""}),
        json!({"icontains": ""}),
        json!({"in": [null]}),
        json!({"regex": ""}),
        json!({"lt": 1}),
        json!({"starts_with": ""}),
        json!({"exists": true}),
        json!({"missing": false}),
    ] {
        assert!(!asked(&operators, &json!({})), "{operators}");
    }
    assert!(asked(&json!({"missing": true}), &json!({})) && asked(&json!({"exists": false}), &json!({})));
}

#[test]
fn fields_reach_payload_event_and_headers() {
    let payload = json!({"event": "mine", "payload": {"n": 1}, "n": 2, "headers": {"x": 1}, "list": [{"a": "b"}]});
    let is = |field: &str, value: Value| passes(json!({"field": field, "equals": value}), &payload);
    assert!(is("event", json!("push")) && is("event_type", json!("push")) && is(" list..0.a ", json!("b")));
    assert!(is("headers.X-Team", json!("ops")) && is("headers", json!({"x-team": "ops"})));
    assert!(is("payload.n", json!(1)) && is("n", json!(2)) && is("payload", json!({"n": 1})));
    let plain = json!({"event": "mine", "n": 2});
    assert!(passes(json!({"field": "payload.event", "equals": "mine"}), &plain), "behind `payload` nothing is hidden");
    assert!(passes(json!({"field": "0.event", "equals": "x"}), &json!([{"event": "x"}])));
}

#[test]
fn a_file_is_asked_for_by_its_name() {
    let filter = Filter::read(&json!({"not": {"all": [{"field": "a", "in_file": "who.txt"}]}})).unwrap();
    assert_eq!(filter.files(), ["who.txt"]);
    let passes = |value: &str, lists: Lists<'_>| {
        filter.passes(&Seen { payload: &json!({"a": value}), event_type: "", headers: &[] }, lists)
    };
    let lists = |file: &str| list(if file == "who.txt" { "one\n\n  two \n" } else { "" });
    assert!(!passes("two", &lists) && passes("three", &lists));
    assert_eq!(list("[1, \"x\"]"), [json!(1), json!("x")]);
    assert_eq!(list("{\"k\": 1}"), [json!("k")]);
    assert_eq!(list("5"), [json!(5)]);
    assert_eq!(list(""), Vec::<Value>::new());
}

#[test]
fn all_that_is_wrong_is_said_with_its_place() {
    let wrong = json!([
        {"field": "a", "equalz": 1},
        {"feild": "a", "equals": 1},
        {"field": "a", "regex": "(["},
        {"any": [{"all": [{"field": "a", "in": "x"}]}, "main"]},
        {"any": [], "field": "a"},
        {"all": {}},
        {"field": "a"},
        {"field": " . ", "exists": "yes"},
        {"field": "a", "gt": "5"},
    ]);
    let errors = Filter::read(&wrong).unwrap_err();
    let places: Vec<&str> = errors.iter().map(|error| error.at.as_str()).collect();
    let expected =
        ["0.equalz", "1.feild", "1", "2.regex", "3.any.0.all.0.in", "3.any.1", "4.field", "5.all", "6", "7.exists"];
    assert_eq!(places[..10], expected);
    assert_eq!(places[10..], ["7.field", "8.gt"]);
    assert_eq!(Filter::read(&json!("main")).unwrap_err()[0].at, "");
    assert!(errors[3].message.contains("unclosed"), "{:?}", errors[3]);
    let look_around = Filter::read(&json!({"field": "a", "regex": "(?=x)"})).unwrap_err();
    assert!(
        look_around[0].message.contains("look-around") && look_around[0].help.contains("linear"),
        "{look_around:?}"
    );
}

#[test]
fn groups_end_somewhere() {
    let mut deep = json!({"field": "a", "exists": true});
    for _ in 0..40 {
        deep = json!({"not": deep});
    }
    assert!(Filter::read(&deep).unwrap_err()[0].message.contains("groups within"));
}

/// A condition of any shape that can be written.
fn condition() -> impl Strategy<Value = Value> {
    let field = prop::sample::select(vec!["a", "b", "a.b", "event", "headers.x-team", "payload.a", "list.0"]);
    let operator = prop_oneof![
        any::<bool>().prop_map(|flag| json!({"exists": flag})),
        any_json().prop_map(|value| json!({"equals": value})),
        any_json().prop_map(|value| json!({"not_equals": value})),
        any_json().prop_map(|value| json!({"contains": value})),
        prop::collection::vec(any_json(), 0..3).prop_map(|values| json!({"in": values})),
        any::<i32>().prop_map(|bound| json!({"gte": bound})),
        "[a-c.*]{0,3}".prop_map(|text| json!({"starts_with": text})),
    ];
    let leaf = (field, operator).prop_map(|(field, mut condition)| {
        condition["field"] = field.into();
        condition
    });
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|all| json!({"all": all})),
            prop::collection::vec(inner.clone(), 0..3).prop_map(|any| json!({"any": any})),
            inner.prop_map(|one| json!({"not": one})),
        ]
    })
}

proptest! {
    #[test]
    fn groups_are_what_logic_says(a in condition(), b in condition(), payload in any_json()) {
        let (one, other) = (passes(a.clone(), &payload), passes(b.clone(), &payload));
        prop_assert_eq!(passes(json!([a, b]), &payload), one && other);
        prop_assert_eq!(passes(json!({"all": [a, b]}), &payload), one && other);
        prop_assert_eq!(passes(json!({"any": [a, b]}), &payload), one || other);
        prop_assert_eq!(passes(json!({"not": a}), &payload), !one);
        // The other way round, as de Morgan has it.
        prop_assert_eq!(passes(json!({"not": {"any": [{"not": a}, {"not": b}]}}), &payload), one && other);
        let empty = [json!([]), json!({"all": []}), json!({"any": []})].map(|group| passes(group, &payload));
        prop_assert_eq!(empty, [true, true, false]);
    }

    #[test]
    fn a_value_is_itself_and_in_its_list(value in any_json()) {
        holds(json!({"equals": value}), value.clone());
        holds(json!({"in": [value]}), value.clone());
        fails(json!({"not_equals": value}), value.clone());
        holds(json!({"contains": value}), json!([value]));
    }

    #[test]
    fn operators_of_one_condition_must_all_hold(value in any_json(), other in any_json(), bound in -3..3_i32) {
        let of = |operators: Value| asked(&operators, &json!({"a": value}));
        let both = of(json!({"equals": other, "gte": bound}));
        prop_assert_eq!(both, of(json!({"equals": other})) && of(json!({"gte": bound})));
    }

    #[test]
    fn whatever_is_written_is_read_or_explained(written in any_json()) {
        if let Err(errors) = Filter::read(&written) {
            prop_assert!(!errors.is_empty() && errors.iter().all(|error| !error.message.is_empty()));
        }
    }
}
