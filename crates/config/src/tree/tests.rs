use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::problem::Fault;

fn read(text: &str) -> Node {
    let mut faults = Vec::new();
    let node = parse(text, &mut faults).unwrap_or_else(|fault| panic!("{}", fault.in_file("f")));
    assert_eq!(faults, []);
    node
}

/// The faults that reading notes, the fatal one last, as lines.
fn wrong(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let fatal = parse(text, &mut faults).err();
    faults.into_iter().chain(fatal).map(|fault: Fault| fault.in_file("f").to_string()).collect()
}

fn place(node: &Node, keys: &str) -> String {
    let path = Path::default().dotted(keys);
    let value = node.get(&path).map(|node| node.at.to_string()).unwrap_or_default();
    format!("{} {value}", node.mark(&path).expect("is in the file"))
}

#[test]
fn every_part_knows_where_it_stands() {
    let node = read("a:\n  b: text\n  c:\n    - 1\n    - {d: 2}\nö: [3,\n  4]\ne:\n");
    assert_eq!(place(&node, "a.b"), "2:6 2:6");
    assert_eq!(place(&node, "a.c"), "3:3 4:5");
    assert_eq!(place(&node, "a.c.1.d"), "5:11 5:11");
    assert_eq!(place(&node, "ö.1"), "7:3 7:3");
    assert_eq!(place(&node, "a.b.not.there"), "2:6 ");
    assert_eq!(node.mark(&Path::default().dotted("e")), Some(Mark { line: 8, column: 1 }));
    assert_eq!(node.mark(&Path::default().dotted("x")), None);
}

#[test]
fn json_is_yaml() {
    let node = read("{\"a\": {\"b\": [1, \"2\", null, true]},\n \"c\": \"\\u00e9\\n\"}");
    assert_eq!(place(&node, "a.b.1"), "1:17 1:17");
    let list = node.get(&Path::default().dotted("a.b")).unwrap();
    let Value::List(items) = &list.value else { panic!("{list:?}") };
    let values: Vec<&Value> = items.iter().map(|item| &item.node.value).collect();
    assert_eq!(values, [&Value::Number(1.into()), &Value::Text("2".into()), &Value::Null, &Value::Truth(true)]);
    assert_eq!(node.get(&Path::new(&["c"])).unwrap().value, Value::Text("é\n".into()));
}

#[test]
fn quotes_and_tags_decide_what_a_scalar_is() {
    let node = read("a: '1'\nb: !!str 1\nc: !!int \"1\"\nd: |\n  1\n");
    let value = |key| node.get(&Path::new(&[key])).unwrap().value.clone();
    assert_eq!(value("a"), Value::Text("1".into()));
    assert_eq!(value("b"), Value::Text("1".into()));
    assert_eq!(value("c"), Value::Number(1.into()));
    assert_eq!(value("d"), Value::Text("1\n".into()));
}

#[test]
fn an_empty_file_is_nothing() {
    for text in ["", "\n \n", "# nothing yet\n", "---\n", "null\n", "~"] {
        assert_eq!(read(text).value, Value::Null, "{text:?}");
    }
    assert_eq!(read("{}").value, Value::Map(Vec::new()));
}

#[test]
fn aliases_are_copies_and_point_to_the_original() {
    let node = read("a: &x {b: 1}\nc: *x\n");
    assert_eq!(node.get(&Path::new(&["c"])), node.get(&Path::new(&["a"])));
    assert_eq!(place(&node, "c.b"), "1:11 1:11");
}

#[test]
fn a_key_that_stands_twice_is_told_with_both_places() {
    assert_eq!(
        wrong("a:\n  b: 1\n  c: 2\n  b: 3\na: 4\n"),
        [
            "a.b: written twice, first at 2:3 (f:4:3); keep one of the two",
            "a: written twice, first at 1:1 (f:5:1); keep one of the two"
        ]
    );
}

#[test]
fn what_is_no_yaml_is_told_with_its_place() {
    let lines = wrong("a: b\n c: d\n");
    assert!(lines[0].starts_with("not valid YAML: ") && lines[0].contains("(f:2:"), "{lines:?}");
    let lines = wrong("a: {secret: ${X}}\n");
    assert!(lines[0].ends_with("inside { } and [ ] a ${NAME} needs quotes: \"${NAME}\""), "{lines:?}");
    assert_eq!(wrong("a: 1\n---\nb: 2\n"), ["a second document begins here: the file holds one document (f:2:1)"]);
    assert_eq!(wrong("a: {[1]: 2}\n"), ["a: a key must be a plain text (f:1:5)"]);
    assert_eq!(
        wrong("a: !env X\n"),
        [
            "a: YAML tags (`!name`) mean nothing here (f:1:9); take the tag away; for a value from the environment write \
          ${NAME}"
        ]
    );
    assert!(wrong("a: *nobody\n")[0].starts_with("not valid YAML: "));
    assert_eq!(wrong("a: &x [*x]\n"), ["a.0: an alias cannot stand inside what it names (f:1:8)"]);
}

#[test]
fn aliases_cannot_fill_the_memory_or_the_stack() {
    let mut wide = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    let mut deep = "a0: &a0 [x]\n".to_owned();
    for n in 1..100 {
        let before = n - 1;
        writeln!(wide, "a{n}: &a{n} [{}]", vec![format!("*a{before}"); 10].join(", ")).unwrap();
        writeln!(deep, "a{n}: &a{n} [*a{before}]").unwrap();
    }
    assert!(wrong(&wide)[0].contains("too large once its aliases are put in (f:"), "{:?}", wrong(&wide));
    assert!(wrong(&deep)[0].contains("nested deeper than 64 levels"), "{:?}", wrong(&deep));
    assert!(!wrong(&"[".repeat(100_000)).is_empty());
    let nested = (0..200).map(|n| " ".repeat(n)).collect::<Vec<_>>().join("a:\n");
    assert!(!wrong(&nested).is_empty());
}

#[test]
fn taking_out_keeps_the_numbers_of_the_rest() {
    let mut node = read("a: [x, {b: 1, c: 2}, z]\n");
    assert!(node.remove(&Path::default().dotted("a.0")));
    assert!(node.remove(&Path::default().dotted("a.1.b")));
    assert!(!node.remove(&Path::default().dotted("a.1.b")));
    assert!(!node.remove(&Path::default()));
    assert_eq!(place(&node, "a.1.c"), "1:18 1:18");
    assert_eq!(place(&node, "a.2"), "1:22 1:22");
}

/// A tree of maps, lists and texts.
#[derive(Clone, Debug)]
enum Shape {
    Text(String),
    List(Vec<Shape>),
    Map(Vec<(String, Shape)>),
}

fn shape() -> impl Strategy<Value = Shape> {
    let text = "[a-z]{1,6}";
    text.prop_map(Shape::Text).prop_recursive(4, 32, 4, move |inner| {
        let map = proptest::collection::btree_map("[a-zé]{1,5}", inner.clone(), 1..4);
        prop_oneof![
            proptest::collection::vec(inner, 1..4).prop_map(Shape::List),
            map.prop_map(|map| Shape::Map(map.into_iter().collect())),
        ]
    })
}

/// Writes block YAML and notes where each text and each key begins.
fn write(shape: &Shape, indent: usize, path: &Path, out: &mut String, seen: &mut Vec<(Path, Mark)>) {
    let here = |out: &String| Mark {
        line: out.matches('\n').count() + 1,
        column: out.rsplit('\n').next().unwrap_or_default().chars().count() + 1,
    };
    let pad = " ".repeat(indent);
    match shape {
        Shape::Text(text) => {
            out.push_str(&pad);
            seen.push((path.clone(), here(out)));
            writeln!(out, "'{text}'").unwrap();
        }
        Shape::List(members) => {
            for (n, member) in members.iter().enumerate() {
                writeln!(out, "{pad}-").unwrap();
                write(member, indent + 2, &path.index(n), out, seen);
            }
        }
        Shape::Map(members) => {
            for (key, member) in members {
                out.push_str(&pad);
                if !matches!(member, Shape::Text(_)) {
                    seen.push((path.key(key), here(out)));
                }
                writeln!(out, "{key}:").unwrap();
                write(member, indent + 1, &path.key(key), out, seen);
            }
        }
    }
}

proptest! {
    #[test]
    fn places_are_exact(shape in shape()) {
        let (mut text, mut seen) = (String::new(), Vec::new());
        write(&shape, 0, &Path::default(), &mut text, &mut seen);
        let node = read(&text);
        for (path, at) in seen {
            let found = if path == Path::default() { Some(node.at) } else { node.mark(&path) };
            prop_assert_eq!(found, Some(at), "{} in\n{}", path, text);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "(?s).*|[-a:\\[\\]{}&*!|>'\"#, \n]{0,60}") {
        wrong(&text);
    }
}
