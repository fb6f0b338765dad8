//! One thing for people: its fields one a line, then its long texts, each below its name.

use serde_json::{Map, Value};

use super::table::{Table, lines, one_line};

/// The fields of `thing` that hold something, in their order.
pub(super) fn text(thing: &Value) -> String {
    let none = Map::new();
    let fields = thing.as_object().unwrap_or(&none);
    let mut table = Table::bare();
    let mut sections = Vec::new();
    for (name, value) in fields {
        match value {
            Value::Null => {}
            Value::String(long) if is_long(name) => {
                sections.push(format!("\n{name}:\n{}", lines(long.trim_end_matches('\n'))));
            }
            value => table.row([name.as_str(), &short(value)]),
        }
    }
    std::iter::once(table.text()).chain(sections).collect::<Vec<_>>().join("\n")
}

/// Texts that agents and templates wrote.
fn is_long(field: &str) -> bool {
    ["prompt", "answer", "stderr", "content"].contains(&field)
}

fn short(value: &Value) -> String {
    match value {
        Value::String(text) => one_line(text),
        Value::Array(items) => items.iter().map(short).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_first_and_long_texts_after_them() {
        let run = serde_json::json!({
            "id": "run_1", "answer": "a\nb\u{1b}[2J\n", "error": null, "exit_code": 0, "runs": ["x", "y"], "state": "succeeded"
        });
        let shown = "id         run_1\nexit_code  0\nruns       x, y\nstate      succeeded\n\nanswer:\na\nb\\u{1b}[2J";
        assert_eq!(text(&run), shown);
    }
}
