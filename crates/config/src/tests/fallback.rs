use super::*;

/// The prompt of the only route.
fn prompt(written: &str, set: &[&str]) -> String {
    let config = read_with(&route(&format!("prompt: {written}")), set).unwrap_or_else(|problems| panic!("{problems}"));
    config.routes["r"].prompt.as_ref().map(|prompt| prompt.source().to_owned()).unwrap_or_default()
}

#[test]
fn variables_are_put_into_texts() {
    assert_eq!(prompt("'Look at {a} on ${HOST}'", &["HOST=h"]), "Look at {a} on h");
    assert_eq!(prompt("${NOT_SET:-fall back}", &[]), "fall back");
    assert_eq!(prompt("'costs $5, $${HOST}, $${not a name}'", &[]), "costs $5, ${HOST}, ${not a name}");
    assert_eq!(prompt("|-\n  ${A}\n  b", &["A=x: y # z"]), "x: y # z\nb", "what is put in cannot change the file");
}

#[test]
fn a_plain_scalar_is_typed_again() {
    let text = "server: {host: h}\nadmin:\n  port: ${PORT}\n  open: ${OPEN}\nhooks:\n  max_hops: ${HOPS:-3}\n";
    let config = read_with(text, &["PORT=15000", "OPEN=true"]).unwrap();
    assert_eq!((config.admin.listen.port, config.admin.open, config.max_hops), (15_000, true, 3));
    let quoted = wrong_with("admin:\n  port: '${PORT}'\n", &["PORT=15000"]);
    assert_eq!(quoted, ["admin.port: a whole number from 0 to 65535 is wanted, this is a text (config.yaml:2:9)"]);
}

#[test]
fn a_text_that_looks_like_something_else_stays_a_text() {
    for secret in ["12345678901234567890", "true", "007", "1e5", "null", "[a]", "{a: b}", "a: b # c"] {
        let config = read_with(&route("secrets:\n  - ${S}"), &[&format!("S={secret}")]);
        match config {
            Ok(config) => assert_eq!(config.routes["r"].secrets[0].expose(), secret),
            Err(problems) => panic!("{secret}: {problems}"),
        }
    }
    let config = read_with(&route("secret: ${S}"), &["S=12345678901234567890\n"]).unwrap();
    assert_eq!(config.routes["r"].secrets[0].expose(), "12345678901234567890");
}

#[test]
fn an_unset_variable_is_named_with_its_key_and_place() {
    assert_eq!(
        wrong(&route("secret: ${GH_SECRET}\nprompt: 'a ${B} c'\nevents:\n  - '${C}'")),
        [
            "routes.r.secret: environment variable GH_SECRET is not set (config.yaml:5:13); set it in .env or the environment",
            "routes.r.prompt: environment variable B is not set (config.yaml:6:13); set it in .env or the environment, or \
             write $${ for the characters ${",
            "routes.r.events.0: environment variable C is not set (config.yaml:8:9); set it in .env or the environment",
        ]
    );
}

#[test]
fn keys_are_taken_as_they_stand() {
    let lines = wrong_with("${A}: 1\n", &["A=server"]);
    assert!(lines[0].starts_with("${A}: unknown key (config.yaml:1:1)"), "{lines:?}");
}
