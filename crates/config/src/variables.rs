//! `${NAME}` and `${NAME:-default}`: put into the texts of the tree, never into the text of the file, so that no value
//! from the environment can change what the file says.

use crate::environment::Environment;
use crate::path::Path;
use crate::problem::Fault;
use crate::tree::{Node, Value, typed};

/// Puts variables into every text below `node`. A text in which that does not work is noted and taken out.
///
/// A `${` begins a reference and nothing else: what only looks like one would stay as it is, and a secret that everybody
/// can guess would come of it. Every other `$` stays. `$${` stands for the two characters `${`. `:-` gives a default for a
/// variable that is unset or empty; it ends at the first `}`. What is put in is not looked at again.
pub(crate) fn put_in(node: &mut Node, environment: &Environment, faults: &mut Vec<Fault>) {
    let mut found = Vec::new();
    walk(node, &Path::default(), environment, &mut found);
    for fault in &found {
        node.remove(&fault.path);
    }
    faults.append(&mut found);
}

fn walk(node: &mut Node, path: &Path, environment: &Environment, faults: &mut Vec<Fault>) {
    match &mut node.value {
        Value::List(items) => {
            for item in items {
                walk(&mut item.node, &path.index(item.index), environment, faults);
            }
        }
        Value::Map(entries) => {
            for entry in entries {
                walk(&mut entry.node, &path.key(&entry.key), environment, faults);
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
            Err(wrong) => {
                let (message, help) = (wrong.message(text), wrong.help(text));
                faults.push(Fault::new(path.clone(), Some(node.at), message).help(help));
            }
        },
        _ => {}
    }
}

/// Why a text has no value.
#[derive(Debug, PartialEq, Eq)]
enum Wrong {
    /// A variable without a default is not set.
    Unset(String),
    /// At this byte stands a `${` that is no reference.
    Malformed(usize, Flaw),
}

/// What is wrong with a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    Open,
    Name,
    Default,
}

/// The end of every message about a `${`.
const LITERAL: &str = "write $${ for the characters ${";

impl Wrong {
    /// Never a part of the text but a name that is one: the rest may be a secret.
    fn message(&self, text: &str) -> String {
        let (at, flaw) = match self {
            Wrong::Unset(name) => return format!("environment variable {name} is not set"),
            Wrong::Malformed(at, flaw) => (*at, flaw),
        };
        let line = text[..at].matches('\n').count() + 1;
        let place = if line > 1 { format!(" in line {line} of the text") } else { String::new() };
        match flaw {
            Flaw::Open => format!("a `${{` is not closed{place}"),
            Flaw::Name => {
                format!("a `${{` without the name of a variable{place}: a name is letters, digits and `_`")
            }
            Flaw::Default => format!("a default holds `${{`{place}, which it cannot"),
        }
    }

    fn help(&self, text: &str) -> String {
        match self {
            Wrong::Unset(name) if text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) == Some(name) => {
                "set it in .env or the environment".to_owned()
            }
            Wrong::Unset(_) => format!("set it in .env or the environment, or {LITERAL}"),
            Wrong::Malformed(..) => format!("write ${{NAME}} or ${{NAME:-default}} for a variable, or {LITERAL}"),
        }
    }
}

/// The text with its variables put in, or the first thing that is wrong with it.
fn expand(text: &str, environment: &Environment) -> Result<String, Wrong> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        out.push_str(&rest[..dollar]);
        rest = &rest[dollar..];
        if let Some(after) = rest.strip_prefix("$${") {
            out.push_str("${");
            rest = after;
        } else if let Some(inside) = rest.strip_prefix("${") {
            let at = text.len() - rest.len();
            let (variable, after) = Variable::read(inside).map_err(|flaw| Wrong::Malformed(at, flaw))?;
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
    /// The variable whose `${` stands before `text`, and what follows it.
    fn read(text: &'t str) -> Result<(Self, &'t str), Flaw> {
        let (inside, after) = text.split_once('}').ok_or(Flaw::Open)?;
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        if name.contains("${") {
            // The `}` is that of another one.
            Err(Flaw::Open)
        } else if !is_name(name) {
            Err(Flaw::Name)
        } else if default.is_some_and(|default| default.contains("${")) {
            Err(Flaw::Default)
        } else {
            Ok((Variable { name, default }, after))
        }
    }

    fn value<'v>(&'v self, environment: &'v Environment) -> Result<&'v str, Wrong> {
        match (environment.get(self.name), self.default) {
            (None | Some(""), Some(default)) => Ok(default),
            (Some(value), _) => Ok(value),
            (None, None) => Err(Wrong::Unset(self.name.to_owned())),
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

    fn expand_with(text: &str) -> Result<String, Wrong> {
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
        assert_eq!(expand_with("${A} ${B}"), Err(Wrong::Unset("B".to_owned())));
    }

    #[test]
    fn other_dollars_stay() {
        for text in ["$", "$A", "costs 5$", "$ {A}", "$(A)", "$$", "$}"] {
            assert_eq!(expand_with(text), Ok(text.to_owned()));
        }
        assert_eq!(expand_with("$${A} $$ $${"), Ok("${A} $$ ${".to_owned()));
        assert_eq!(expand_with("$${A-b} $${A"), Ok("${A-b} ${A".to_owned()));
    }

    #[test]
    fn what_only_looks_like_a_variable_is_wrong() {
        let flaws = [
            (Flaw::Open, ["${", "${A", "${A:-b", "${A ${A}"].as_slice()),
            (
                Flaw::Name,
                &["${}", "${1}", "${A B}", "${ A }", "${a.b}", "${A-B}", "${A-}", "${A:default}", "${é}", "${:-x}"],
            ),
            (Flaw::Default, &["${B:-${A}}", "${A:-${B:-c}}", "${B:-$${A}"]),
        ];
        for (flaw, texts) in flaws {
            for text in texts {
                assert_eq!(expand_with(text), Err(Wrong::Malformed(0, flaw)), "{text}");
                assert_eq!(expand_with(&format!("é ${{A}} {text}")), Err(Wrong::Malformed(8, flaw)), "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic_or_passes_a_variable_on(text in "[$={}:A-C \n-]{0,24}|\\PC*") {
            match expand_with(&text) {
                Err(wrong) => prop_assert!(!wrong.message(&text).is_empty()),
                Ok(expanded) if !text.contains("$${") => prop_assert!(!expanded.contains("${"), "{text} {expanded}"),
                Ok(_) => {}
            }
        }
    }
}
