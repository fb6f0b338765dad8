//! The tables as a picture.

use std::fmt::{Display, Write};

use super::table::Step;

/// A table as a state diagram in Mermaid's notation: one arrow for each pair of states, its label the reasons.
/// `starts` are the states that a life may begin in.
pub fn mermaid<S: Copy + PartialEq + Display>(starts: &[S], table: &[Step<S>]) -> String {
    let mut text = "stateDiagram-v2\n".to_owned();
    for start in starts {
        writeln!(text, "    [*] --> {start}").expect("text takes every write");
    }
    for (n, step) in table.iter().enumerate() {
        let same = |other: &&Step<S>| other.from == step.from && other.to == step.to;
        if table[..n].iter().any(|other| same(&other)) {
            continue;
        }
        let why: Vec<_> = table.iter().filter(same).map(|step| step.why.replace(';', ",")).collect();
        writeln!(text, "    {} --> {}: {}", step.from, step.to, why.join(" / ")).expect("text takes every write");
    }
    text
}
