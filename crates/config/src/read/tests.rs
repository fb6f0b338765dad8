use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::*;
use crate::tree;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Colour {
    Red,
    Green,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
struct Inner {
    name: Option<String>,
    port: u16,
    flag: bool,
    names: Vec<String>,
    any: Map<String, Value>,
    colour: Option<Colour>,
    share: f64,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Needy {
    wanted: String,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
struct Outer {
    inner: Inner,
    many: BTreeMap<String, Inner>,
    needy: BTreeMap<String, Needy>,
}

fn read(text: &str) -> (Option<Outer>, Vec<String>) {
    let mut faults = Vec::new();
    let mut node = tree::parse(text, &mut faults).expect("YAML");
    let value = everything(&mut node, &mut faults);
    (value, faults.into_iter().map(|fault| fault.in_file("f").to_string()).collect())
}

#[test]
fn all_problems_come_at_once_and_the_rest_is_read() {
    let (value, faults) = read(
        "inner:\n  nam: x\n  port: many\n  flag: yes\n  names: [a, 1, b, [c]]\nmany:\n  one: {port: 70000, colour: blue}\n  \
         two: 5\n  three: {port: 3}\nneedy: {a: {}, b: {wanted: w}}\nzzzzzzzz: 1\n",
    );
    let inner = Inner { names: vec!["a".into(), "b".into()], ..Inner::default() };
    let many = [("one".to_owned(), Inner::default()), ("three".to_owned(), Inner { port: 3, ..Inner::default() })];
    let needy = [("b".to_owned(), Needy { wanted: "w".into() })];
    assert_eq!(value, Some(Outer { inner, many: many.into(), needy: needy.into() }));
    assert_eq!(
        faults,
        [
            "inner.nam: unknown key (f:2:3); did you mean `name`?",
            "inner.port: a whole number from 0 to 65535 is wanted, this is a text (f:3:9)",
            "inner.flag: true or false is wanted, this is a text (f:4:9); write true or false, without quotes",
            "inner.names.1: a text is wanted, this is a number (f:5:14); put it in quotes",
            "inner.names.3: a text is wanted, this is a list (f:5:20)",
            "many.one.port: a whole number from 0 to 65535 is wanted (f:7:15)",
            "many.one.colour: must be one of `red`, `green` (f:7:30)",
            "many.two: a map of keys and values is wanted, this is a number (f:8:8)",
            "needy.a: the key `wanted` is missing (f:10:9)",
            "zzzzzzzz: unknown key (f:11:1); known here: inner, many, needy",
        ]
    );
}

#[test]
fn nothing_is_an_empty_map_where_a_map_is_wanted() {
    let (value, faults) = read("inner:\nmany:\n  one:\n");
    assert_eq!(faults, [""; 0]);
    assert_eq!(value.unwrap().many["one"], Inner::default());
    assert_eq!(
        read("inner: {port:}").1,
        ["inner.port: a whole number from 0 to 65535 is wanted, this is empty (f:1:9)"]
    );
    assert_eq!(read("[]").1, ["a map of keys and values is wanted, this is a list (f:1:1)"]);
}

#[test]
fn numbers_keep_their_digits_where_anything_is_taken() {
    let (value, faults) =
        read("inner: {any: {a: 12345678901234567890123, b: 1.50, c: -5, d: 1e2, e: +49}, share: 0.25}");
    assert_eq!(faults, [""; 0]);
    let inner = value.unwrap().inner;
    assert_eq!(
        Value::Object(inner.any).to_string(),
        r#"{"a":12345678901234567890123,"b":1.50,"c":-5,"d":"1e2","e":"+49"}"#
    );
    assert_eq!(json!(inner.share), json!(0.25));
}

#[test]
fn the_number_of_problems_is_bounded() {
    let text: String = (0..1000).map(|n| format!("x{n}")).collect::<Vec<_>>().join(": 1\n") + ":";
    let (value, faults) = read(&text);
    assert_eq!((value, faults.len()), (None, MOST));
}
