//! Reading conditions, and saying all that is wrong with them.

use std::cmp::Ordering::{Equal, Greater, Less};

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Number, Value};

use super::Condition;
use super::field::Field;
use super::operator::Operator;

/// Memory that a compiled pattern may take, in bytes.
const PATTERN_SIZE: usize = 1 << 20;
/// Groups within groups: far more than a person writes.
const DEEPEST: usize = 32;

const GROUPS: [&str; 3] = ["all", "any", "not"];

/// What is wrong with a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    /// The dotted way to it below `filters`: `0.any.1.regex`.
    pub at: String,
    /// What is wrong.
    pub message: String,
    /// What to do; empty when the message says it.
    pub help: String,
}

pub(super) fn filter(written: &Value) -> Result<Vec<Condition>, Vec<FilterError>> {
    let mut reader = Reader::default();
    let conditions = match written {
        Value::Array(list) => reader.list(list, "", 0),
        other => reader.condition(other, "", 0).into_iter().collect(),
    };
    if reader.errors.is_empty() { Ok(conditions) } else { Err(reader.errors) }
}

#[derive(Default)]
struct Reader {
    errors: Vec<FilterError>,
}

fn below(at: &str, step: impl std::fmt::Display) -> String {
    if at.is_empty() { step.to_string() } else { format!("{at}.{step}") }
}

impl Reader {
    fn fault(&mut self, at: &str, message: impl Into<String>, help: impl Into<String>) {
        self.errors.push(FilterError { at: at.to_owned(), message: message.into(), help: help.into() });
    }

    fn list(&mut self, list: &[Value], at: &str, depth: usize) -> Vec<Condition> {
        let each = list.iter().enumerate();
        each.filter_map(|(number, one)| self.condition(one, &below(at, number), depth)).collect()
    }

    fn condition(&mut self, written: &Value, at: &str, depth: usize) -> Option<Condition> {
        let Value::Object(map) = written else {
            self.fault(at, "not a condition", "write {field: …, equals: …}, or a group: all, any or not");
            return None;
        };
        if depth > DEEPEST {
            self.fault(at, format!("more than {DEEPEST} groups within each other"), "");
            return None;
        }
        match map.keys().find(|key| GROUPS.contains(&key.as_str())) {
            Some(group) => self.group(map, group, at, depth),
            None => self.field(map, at),
        }
    }

    fn group(&mut self, map: &Map<String, Value>, group: &str, at: &str, depth: usize) -> Option<Condition> {
        for key in map.keys().filter(|key| *key != group) {
            let message = format!("stands beside `{group}` in one condition");
            self.fault(&below(at, key), message, "write a condition for each, in a list: all of them must hold");
        }
        let (written, at) = (&map[group], below(at, group));
        if group == "not" {
            return self.condition(written, &at, depth + 1).map(|condition| Condition::Not(Box::new(condition)));
        }
        let Value::Array(list) = written else {
            self.fault(&at, "not a list", "write a list of conditions");
            return None;
        };
        let conditions = self.list(list, &at, depth + 1);
        Some(if group == "all" { Condition::All(conditions) } else { Condition::Any(conditions) })
    }

    fn field(&mut self, map: &Map<String, Value>, at: &str) -> Option<Condition> {
        let mut operators = Vec::new();
        for (name, argument) in map.iter().filter(|(name, _)| *name != "field") {
            match operator(name, argument) {
                Ok(operator) => operators.push(operator),
                Err((message, help)) => self.fault(&below(at, name), message, help),
            }
        }
        let field = match map.get("field") {
            None => {
                self.fault(at, "a condition without `field`", "say what it looks at, such as `field: repository.name`");
                return None;
            }
            Some(written) => written.as_str().and_then(Field::read),
        };
        if field.is_none() {
            self.fault(&below(at, "field"), "not a path", "write a dotted path, such as pull_request.labels.0.name");
        } else if map.len() == 1 {
            self.fault(at, "a condition without an operator", "add one, such as `exists: true` or `equals: main`");
        }
        Some(Condition::Field { field: field?, operators })
    }
}

type Wrong = (String, &'static str);

fn operator(name: &str, argument: &Value) -> Result<Operator, Wrong> {
    let text = || argument.as_str().map(str::to_owned).ok_or_else(|| ("not a text".to_owned(), ""));
    let flag = || argument.as_bool().ok_or_else(|| ("neither true nor false".to_owned(), ""));
    let bound = || match argument {
        Value::Number(number) => Ok(number.clone()),
        _ => Err(("not a number".to_owned(), "other values are compared with equals, in or regex")),
    };
    let compares = |orders: &'static [_]| bound().map(|bound: Number| Operator::Compares(bound, orders));
    Ok(match name {
        "exists" => Operator::Exists(flag()?),
        "missing" => Operator::Exists(!flag()?),
        "equals" => Operator::Equals(argument.clone()),
        "not_equals" => Operator::NotEquals(argument.clone()),
        "contains" => Operator::Contains(argument.clone()),
        "icontains" => Operator::ContainsFolded(text()?.to_lowercase()),
        "in" => Operator::In(argument.as_array().cloned().ok_or_else(|| ("not a list".to_owned(), ""))?),
        "in_file" => Operator::InFile(text()?),
        "regex" => Operator::Matches(pattern(&text()?)?),
        "gt" => compares(&[Greater])?,
        "gte" => compares(&[Greater, Equal])?,
        "lt" => compares(&[Less])?,
        "lte" => compares(&[Less, Equal])?,
        "starts_with" => Operator::StartsWith(text()?),
        "ends_with" => Operator::EndsWith(text()?),
        _ => return Err(("no such operator".to_owned(), OPERATORS)),
    })
}

const OPERATORS: &str = "there are exists, missing, equals, not_equals, contains, icontains, in, in_file, regex, gt, gte, lt, lte, \
     starts_with, ends_with, and the groups all, any, not";

fn pattern(text: &str) -> Result<Regex, Wrong> {
    RegexBuilder::new(text).size_limit(PATTERN_SIZE).build().map_err(|error| {
        let said = error.to_string();
        let last = said.lines().last().unwrap_or_default().trim();
        let why = last.strip_prefix("error: ").unwrap_or(last);
        (
            format!("not a pattern that can be used: {why}"),
            "patterns are searched in linear time: no look-around and no back-references",
        )
    })
}
