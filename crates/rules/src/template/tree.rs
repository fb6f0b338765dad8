//! Templates at any depth of a JSON value, as in `deliver_extra`.

use serde_json::{Map, Value};

use super::{ADDRESS, Scope, Template};

/// A JSON value whose strings are templates.
///
/// Keys, numbers and the like stay as they are. A rendered string is a string, also where it is one placeholder that
/// holds a number: targets take `"42"` for a chat id as they take `42`.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateTree(Node);

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Plain(Value),
    Text(Template),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

/// A placeholder that has no value, where one is needed to know the place to send to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` cannot be filled in: {placeholder} is missing or null in this event")]
pub struct Unresolved {
    /// Where it stands: `chat_id`, `tags.0`; empty for the value itself.
    pub path: String,
    /// The placeholder as written, braces included.
    pub placeholder: String,
}

impl TemplateTree {
    /// Reads the templates of a value.
    pub fn parse(value: &Value) -> Self {
        Self(Node::parse(value))
    }

    /// The value with every template filled. An empty string stays one: the target's default is meant.
    ///
    /// A placeholder that does not resolve is an error, and so is one whose value is `null`: a message must not go to a
    /// chat called `{chat.id}` or `null`. The error names the first one.
    pub fn render(&self, scope: &Scope) -> Result<Value, Unresolved> {
        self.0.render(scope, &mut Vec::new())
    }
}

impl Node {
    fn parse(value: &Value) -> Self {
        match value {
            Value::String(text) => Node::Text(Template::parse(text)),
            Value::Array(list) => Node::List(list.iter().map(Node::parse).collect()),
            Value::Object(map) => Node::Map(map.iter().map(|(key, value)| (key.clone(), Node::parse(value))).collect()),
            other => Node::Plain(other.clone()),
        }
    }

    fn render(&self, scope: &Scope, path: &mut Vec<String>) -> Result<Value, Unresolved> {
        match self {
            Node::Plain(value) => Ok(value.clone()),
            Node::Text(template) => {
                let filled = template.fill(scope, ADDRESS);
                match filled.unresolved.into_iter().next() {
                    Some(placeholder) => Err(Unresolved { path: path.join("."), placeholder }),
                    None => Ok(Value::String(filled.text)),
                }
            }
            Node::List(list) => list.iter().enumerate().map(|(n, node)| node.at(n.to_string(), scope, path)).collect(),
            Node::Map(map) => {
                let filled = map.iter().map(|(key, node)| Ok((key.clone(), node.at(key.clone(), scope, path)?)));
                filled.collect::<Result<Map<_, _>, _>>().map(Value::Object)
            }
        }
    }

    fn at(&self, part: String, scope: &Scope, path: &mut Vec<String>) -> Result<Value, Unresolved> {
        path.push(part);
        let value = self.render(scope, path)?;
        path.pop();
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::arbitrary::json as any_json;

    fn filled(tree: &Value, payload: &Value) -> Result<Value, Unresolved> {
        let scope = Scope {
            payload,
            event_type: "issues",
            route: "r",
            delivery_id: "d-1",
            event_id: "ev_1",
            headers: &[],
            body_sha256: "00",
        };
        TemplateTree::parse(tree).render(&scope)
    }

    #[test]
    fn strings_are_templates_at_any_depth() {
        let tree = json!({"title": "{event_type} on {route}", "tags": ["{tag}", "fixed"], "a": {"b": [{"c": "{n}"}]},
                          "silent": true, "top": 5, "none": null, "{tag}": "key"});
        let got = filled(&tree, &json!({"tag": "t", "n": 42})).unwrap();
        let want = json!({"title": "issues on r", "tags": ["t", "fixed"], "a": {"b": [{"c": "42"}]},
                          "silent": true, "top": 5, "none": null, "{tag}": "key"});
        assert_eq!(got, want);
        assert_eq!(filled(&json!({"chat_id": "{c}"}), &json!({"c": ""})).unwrap(), json!({"chat_id": ""}));
    }

    #[test]
    fn what_does_not_resolve_is_named() {
        let tree = json!({"ok": "x", "a": {"tags": ["fixed", "to {chat.id}"]}});
        for payload in [json!({}), json!({"chat": {"id": null}})] {
            let error = filled(&tree, &payload).unwrap_err();
            assert_eq!((error.path.as_str(), error.placeholder.as_str()), ("a.tags.1", "{chat.id}"));
            let text = error.to_string();
            assert_eq!(text, "`a.tags.1` cannot be filled in: {chat.id} is missing or null in this event");
        }
    }

    #[test]
    fn braces_in_a_value_are_no_placeholder() {
        let got = filled(&json!("{url}"), &json!({"url": "https://x/{archive_format}{/ref}"})).unwrap();
        assert_eq!(got, json!("https://x/{archive_format}{/ref}"));
    }

    proptest! {
        #[test]
        fn never_panics(tree in any_json(), payload in any_json()) {
            let _ = filled(&tree, &payload);
        }

        #[test]
        fn a_tree_without_braces_stays_as_it_is(tree in any_json()) {
            let text = tree.to_string();
            prop_assume!(!text.contains("\\u0000"));
            let plain: Value = serde_json::from_str(&text.replace("{route}", "r").replace("{a}", "a").replace("{__raw__}", "w")
                .replace("{headers.x}", "h")).unwrap();
            prop_assert_eq!(filled(&plain, &json!({})).unwrap_or_else(|_| plain.clone()), plain);
        }
    }
}
