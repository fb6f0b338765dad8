//! `${NAME}` and `${NAME:-default}`: put into the texts of the tree, never into the text of the file, so that no value
//! from the environment can change what the file says.

use crate::environment::Environment;
use crate::path::Path;
use crate::problem::Fault;
use crate::tree::{Node, Value, typed};

/// Puts variables into every text below `node`. A text with an unset variable is noted and taken out.
///
/// Only `${` with a name (letters, digits, `_`, not beginning with a digit) and its `}` counts; every other `$` stays as it
/// is. `$${` stands for the two characters `${`. `:-` gives a default for a variable that is unset or empty; it ends at the
/// first `}`. What is put in is not looked at again.
pub(crate) fn put_in(node: &mut Node, environment: &Environment, faults: &mut Vec<Fault>) {
    let mut unset = Vec::new();
    walk(node, &Path::default(), environment, &mut unset);
    for fault in &unset {
        node.remove(&fault.path);
    }
    faults.append(&mut unset);
}

fn walk(node: &mut Node, path: &Path, environment: &Environment, unset: &mut Vec<Fault>) {
    match &mut node.value {
        Value::List(items) => {
            for item in items {
                walk(&mut item.node, &path.index(item.index), environment, unset);
            }
        }
        Value::Map(entries) => {
            for entry in entries {
                walk(&mut entry.node, &path.key(&entry.key), environment, unset);
            }
        }
        Value::Text(text) if text.contains("${") => match expand(text, environment) {
            Ok(expanded) => {
                node.value = match (node.plain, expanded.as_str()) {
                    // An empty variable is an empty text; only the file itself can say "nothing".
                    (true, filled) if !filled.is_empty() => typed(filled),
                    _ => Value::Text(expanded.clone()),
                };
                node.put_in = node.plain.then_some(expanded);
            }
            Err(name) => {
                let alone = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) == Some(name.as_str());
                let help = if alone { "" } else { ", or write $${ for the characters ${" };
                let fault = Fault::new(path.clone(), Some(node.at), format!("environment variable {name} is not set"));
                unset.push(fault.help(format!("set it in .env or the environment{help}")));
            }
        },
        _ => {}
    }
}

/// The text with its variables put in, or the name of the first one that is not set.
fn expand(text: &str, environment: &Environment) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        out.push_str(&rest[..dollar]);
        rest = &rest[dollar..];
        if let Some(after) = rest.strip_prefix("$${") {
            out.push_str("${");
            rest = after;
        } else if let Some((variable, after)) = Variable::read(rest) {
            out.push_str(variable.value(environment)?);
            rest = after;
        } else {
            out.push('$');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    Ok(out)
}

struct Variable<'t> {
    name: &'t str,
    default: Option<&'t str>,
}

impl<'t> Variable<'t> {
    /// The variable at the beginning of `text` and what follows it.
    fn read(text: &'t str) -> Option<(Self, &'t str)> {
        let (inside, after) = text.strip_prefix("${")?.split_once('}')?;
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        is_name(name).then_some((Variable { name, default }, after))
    }

    fn value<'v>(&'v self, environment: &'v Environment) -> Result<&'v str, String> {
        match (environment.get(self.name), self.default) {
            (None | Some(""), Some(default)) => Ok(default),
            (Some(value), _) => Ok(value),
            (None, None) => Err(self.name.to_owned()),
        }
    }
}

/// Whether `name` can be the name of a variable.
pub(crate) fn is_name(name: &str) -> bool {
    let ok = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| ok(c) && !c.is_ascii_digit()) && name.chars().all(ok)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn expand_with(text: &str) -> Result<String, String> {
        let set = [("A", "one"), ("EMPTY", ""), ("NESTED", "${A}"), ("LINE", "secret\r\n")];
        let real = set.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        expand(text, &Environment::new(real))
    }

    #[test]
    fn variables_and_defaults_are_put_in() {
        for (text, want) in [
            ("${A}", "one"),
            ("x${A}y${A}", "xoneyone"),
            ("${B:-two}", "two"),
            ("${A:-two}", "one"),
            ("${EMPTY:-two}", "two"),
            ("${EMPTY}", ""),
            ("${B:-}", ""),
            ("${B:-a:-b $x}", "a:-b $x"),
            ("${NESTED}", "${A}"),
            ("${LINE}", "secret"),
        ] {
            assert_eq!(expand_with(text), Ok(want.to_owned()), "{text}");
        }
        assert_eq!(expand_with("${A} ${B}"), Err("B".to_owned()));
    }

    #[test]
    fn other_dollars_stay() {
        for text in ["$", "$A", "costs 5$", "${", "${}", "${1}", "${A B}", "${A", "$ {A}", "${a.b}", "${B:default}"] {
            assert_eq!(expand_with(text), Ok(text.to_owned()));
        }
        assert_eq!(expand_with("$${A} $$ $${"), Ok("${A} $$ ${".to_owned()));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[$={}:A-C -]{0,24}|\\PC*") {
            let _ = expand_with(&text);
        }
    }
}
