use std::collections::BTreeMap;
use std::fs;

use tempfile::TempDir;

use crate::{Place, load};

/// A home with these files.
fn home(files: &[(&str, &str)]) -> (TempDir, Place) {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let place = Place::of_home(folder.path().to_path_buf());
    (folder, place)
}

fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn the_real_environment_wins_over_the_file_and_only_it_is_handed_on() {
    let config = "agents: {default: {preset: command, command: [cat]}}\nroutes:\n  a: {secret: \"${S_BOTH}\"}\n  b:\n    secret: ${S_FILE}\n";
    let (_folder, place) =
        home(&[("config.yaml", config), (".env", "S_BOTH=file-loses-123456\nS_FILE=from-file-123456\n")]);
    let config = load(&place, &environment(&[("S_BOTH", "env-wins-123456789")])).unwrap();
    assert_eq!(config.routes["a"].secrets[0].expose(), "env-wins-123456789");
    assert_eq!(config.routes["b"].secrets[0].expose(), "from-file-123456");
    assert_eq!(config.environment, environment(&[("S_BOTH", "env-wins-123456789")]));
}

#[test]
fn a_missing_file_says_what_to_do() {
    let (folder, place) = home(&[]);
    let file = folder.path().join("config.yaml");
    assert_eq!(
        load(&place, &BTreeMap::new()).unwrap_err().to_string(),
        format!(
            "there is no {}; write one (`doorbell schema` describes its keys), or see Doorbell work with `doorbell demo`",
            file.display()
        )
    );
}

#[test]
fn problems_of_both_files_come_at_once() {
    let (_folder, place) = home(&[("config.yaml", "routez: {}\n"), (".env", "what\n")]);
    let problems = load(&place, &BTreeMap::new()).unwrap_err().to_string();
    assert_eq!(
        problems,
        "not NAME=value (.env:1:1); write NAME=value, with quotes around a value that needs them\n\
         routez: unknown key (config.yaml:1:1); did you mean `routes`?"
    );
    let (_folder, place) = home(&[("config.yaml", "{}"), (".env", "what\n")]);
    assert_eq!(load(&place, &BTreeMap::new()).unwrap_err().0.len(), 1);
    let (_folder, place) = home(&[("config.yaml", "admin: {open: true}"), (".env", "U=${A}\n")]);
    assert_eq!(load(&place, &BTreeMap::new()).unwrap().warnings.len(), 2);
}

#[test]
fn files_that_cannot_be_read_are_told() {
    let (folder, place) = home(&[("config.yaml", "server:\n  tls:\n    cert: c.pem\n    key: k.pem\n"), ("c.pem", "")]);
    let line = format!("server.tls.key: {} cannot be read: ", folder.path().join("k.pem").display());
    let problems = load(&place, &BTreeMap::new()).unwrap_err().to_string();
    assert!(problems.starts_with(&line) && problems.ends_with("(config.yaml:4:10)"), "{problems}");
    let (folder, place) = home(&[]);
    fs::write(folder.path().join("config.yaml"), b"a: \xff\n").unwrap();
    assert!(load(&place, &BTreeMap::new()).unwrap_err().to_string().contains("cannot be read"));
    fs::create_dir(folder.path().join(".env")).unwrap();
    assert_eq!(load(&place, &BTreeMap::new()).unwrap_err().0.len(), 2);
}
