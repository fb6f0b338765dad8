//! Whole files, as their writers meet them.

mod credentials;
mod disk;
mod fallback;
mod good;
mod retention;
mod routes;
mod schema;
mod server;

use crate::{Config, Environment, Place, Problems, parse};

/// Reads a file named `config.yaml` in the home `/home/d`, with an environment of `NAME=value` texts.
fn read_with(text: &str, set: &[&str]) -> Result<Config, Problems> {
    let pair = |text: &&str| text.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    let environment = Environment::new(set.iter().filter_map(pair).collect());
    parse(text, &Place::of_home("/home/d".into()), &environment)
}

fn read(text: &str) -> Config {
    read_with(text, &[]).unwrap_or_else(|problems| panic!("{problems}"))
}

/// What is wrong with a file, a line each.
fn wrong(text: &str) -> Vec<String> {
    wrong_with(text, &[])
}

fn wrong_with(text: &str, set: &[&str]) -> Vec<String> {
    let problems = read_with(text, set).expect_err("something is wrong");
    problems.0.iter().map(ToString::to_string).collect()
}

fn warned(text: &str) -> Vec<String> {
    read(text).warnings.iter().map(ToString::to_string).collect()
}

/// The beginning of a file with an agent and a server secret, three lines long, up to the routes.
const AGENT: &str =
    "agents: {default: {preset: command, command: [cat]}}\nserver: {secret: abcdefghijklmnop}\nroutes:\n";

/// A file with one route `r` whose keys are the lines of `keys`, each at column 5, from line 5 on.
fn route(keys: &str) -> String {
    format!("{AGENT}  r:\n    {}\n", keys.replace('\n', "\n    "))
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(?s).*") {
        let _ = read_with(&text, &["A=1"]);
    }

    #[test]
    fn no_value_makes_it_panic(
        key in "[a-z_]{1,12}|secrets?|deliver|events|options|prompt|deliver_extra|timeout|source",
        value in "[-a-z0-9.{}$:~\"'\\[\\], ]{0,24}",
    ) {
        let text = format!("{AGENT}  r: {{secret: abcdefghijklmnop}}\n  s:\n    {key}: {value}\n");
        if let Err(problems) = read_with(&text, &["A=1"]) {
            proptest::prop_assert!(!problems.0.is_empty());
        }
    }
}
