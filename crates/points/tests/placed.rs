//! The list of names and the places in the code are the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Names in `points::reach("…")` below a folder.
fn placed(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            placed(&entry, names);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&entry).expect("source text");
            let calls = text.split("points::reach(\"").skip(1);
            names.extend(calls.filter_map(|rest| Some(rest.split_once("\")")?.0.to_owned())));
        }
    }
}

#[test]
fn every_name_stands_somewhere_in_the_product_and_every_place_is_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut names = BTreeSet::new();
    for folder in ["src", "crates/ledger/src", "crates/gateway/src"] {
        placed(&root.join(folder), &mut names);
    }
    let listed: BTreeSet<String> = doorbell_points::NAMES.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(names, listed);
}
