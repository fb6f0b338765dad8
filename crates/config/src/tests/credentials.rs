//! Secrets and tokens that would be what everybody can guess, or not what was meant.

use super::*;

/// What is said about a text that stands at `routes.r.secret`, line 5.
fn about_secret(written: &str) -> String {
    let lines = wrong_with(&route(&format!("secret: {written}")), &["SET=abcdefghijklmnop"]);
    assert_eq!(lines.len(), 1, "{written}: {lines:?}");
    lines[0].clone()
}

#[test]
fn what_only_looks_like_a_variable_is_never_the_secret() {
    let help = "write ${NAME} or ${NAME:-default} for a variable, or write $${ for the characters ${";
    let name = "a `${` without the name of a variable: a name is letters, digits and `_`";
    for (written, message) in [
        ("${NOPE:-${WEBHOOK_SECRET_DEFAULT}}", "a default holds `${`, which it cannot"),
        ("${GITHUB-WEBHOOK-SECRET}", name),
        ("${GITHUB_WEBHOOK_SECRET", "a `${` is not closed"),
        ("${ SET }", name),
        ("${SET-}", name),
        ("'${}'", name),
        ("'x${SET}y${SET'", "a `${` is not closed"),
        ("'${SET ${SET}'", "a `${` is not closed"),
    ] {
        assert_eq!(
            about_secret(written),
            format!("routes.r.secret: {message} (config.yaml:5:13); {help}"),
            "{written}"
        );
    }
    let others = "server: {secret: '${A'}\nadmin: {token: '${A-b}', host: 0.0.0.0}\nagents: {default: {preset: command, \
                  command: [cat]}}\nroutes: {r: {secrets: ['${']}, s: {}}\n";
    assert_eq!(
        wrong(others),
        [
            format!("server.secret: a `${{` is not closed (config.yaml:1:18); {help}"),
            format!("admin.token: {name} (config.yaml:2:16); {help}"),
            format!("routes.r.secrets.0: a `${{` is not closed (config.yaml:4:24); {help}"),
        ]
    );
    assert_eq!(
        wrong(&route("prompt: |\n  one\n  two ${a.b}\n  three")),
        [format!(
            "routes.r.prompt: a `${{` without the name of a variable in line 2 of the text: a name is letters, digits and \
             `_` (config.yaml:6:7); {help}"
        )]
    );
}

#[test]
fn a_variable_that_nobody_filled_in_is_no_secret() {
    let tail = "begins like a variable that nobody filled in";
    let help = "write ${NAME}, and give that variable the secret itself; nothing else is replaced";
    for written in ["$GITHUB_WEBHOOK_SECRET", "$(cat /run/secrets/hook)", "$_x", "$${GITHUB_WEBHOOK_SECRET}", "$a1b2c3"]
    {
        assert_eq!(about_secret(written), format!("routes.r.secret: {tail} (config.yaml:5:13); {help}"), "{written}");
    }
    let literal = ["S=$(cat x)", "T=$TOKEN"];
    assert_eq!(
        wrong_with(
            "server:\n  secret: ${S}\nadmin:\n  host: 0.0.0.0\n  token: ${T}\nagents: {default: {preset: command, command: \
             [cat]}}\nroutes:\n  a: {}\n  b: {secrets: [abcdefghijklmnop, $X, '$(y)']}\n",
            &literal
        ),
        [
            ("server.secret", "2:11"),
            ("admin.token", "5:10"),
            ("routes.b.secrets.1", "9:35"),
            ("routes.b.secrets.2", "9:39"),
        ]
        .map(|(key, place)| format!("{key}: {tail} (config.yaml:{place}); {help}"))
    );
    let enabled = ["WEBHOOK_ENABLED=1", "WEBHOOK_SECRET=$(cat hook)"];
    assert_eq!(
        wrong_with(&route("prompt: x"), &enabled),
        [
            "WEBHOOK_SECRET: begins like a variable that nobody filled in; give the variable the secret itself: what stands in \
          it is not replaced"
        ]
    );
    for fine in ["pa$$word-pa$$word", "$1abcdefghijklmnop", "'$-abcdefghijklmnop'", "a${SET}$b"] {
        let config = read_with(&route(&format!("secret: {fine}")), &["SET=abcdefghijklmnop"]);
        assert!(config.is_ok_and(|config| config.warnings.is_empty()), "{fine}");
    }
}

#[test]
fn one_line_end_is_not_part_of_a_secret() {
    let config = |block: &str| {
        let text = format!("admin:\n  token: {block}{}", route(&format!("secrets:\n  - {block}")));
        read_with(&text, &["S=from-variable-1234\r\n"]).unwrap_or_else(|problems| panic!("{problems}"))
    };
    for (block, value) in [
        ("|\n       from-block-1234567\n", "from-block-1234567"),
        ("\"crlf-abcdefghijkl\\r\\n\"\n", "crlf-abcdefghijkl"),
        ("${S}\n", "from-variable-1234"),
        ("|\n       ${S}\n", "from-variable-1234"),
    ] {
        let config = config(block);
        let secret = config.routes["r"].secrets[0].expose();
        assert_eq!((secret, config.admin.token.unwrap().expose()), (value, value), "{block:?}");
        assert_eq!(config.warnings, [], "{block:?}");
    }
    let open = read(&route("secret: |\n  INSECURE_NO_AUTH"));
    assert!(open.routes["r"].verifier.is_open());
    let server = read(
        "server: {secret: \"from-server-123456\\n\"}\nagents: {default: {preset: command, command: [cat]}}\nroutes: {r: }\n",
    );
    assert_eq!(server.routes["r"].secrets[0].expose(), "from-server-123456");
}

#[test]
fn white_space_that_stays_is_warned_of() {
    let tail = "begins or ends with white space, which is part of it";
    let help = "take it away if it is not meant";
    let text = format!(
        "admin: {{token: ' abcdefghijklmnop'}}\n{}",
        route("secrets: [abcdefghijklmnop, \"abcdefghijklmnop\\n\\n\"]")
            .replace("{secret: abcdefghijklmnop}", "{secret: \"abcdefghijklmnop \\n\"}")
    );
    let keys = [("admin.token", "1:16"), ("server.secret", "3:18"), ("routes.r.secrets.1", "6:33")];
    assert_eq!(warned(&text), keys.map(|(key, place)| format!("{key}: {tail} (config.yaml:{place}); {help}")));
    let enabled = ["WEBHOOK_ENABLED=1", "WEBHOOK_SECRET= abcdefghijklmnop"];
    let warnings = read_with(&route("prompt: x"), &enabled).unwrap().warnings;
    let lines: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(lines, [format!("WEBHOOK_SECRET: {tail}; {help}")]);
}

#[test]
fn a_short_admin_token_is_warned_of() {
    assert_eq!(
        warned("admin: {token: only-15-letters}"),
        [
            "admin.token: shorter than 16 characters: who reaches the admin address can find it by trial (config.yaml:1:16); \
          `openssl rand -hex 32` makes a good one"
        ]
    );
    assert_eq!(warned("admin: {token: sixteen-letters!}"), [""; 0]);
}

#[test]
fn a_file_without_anything_in_it_is_no_configuration() {
    for text in ["", "\n", "# routes: {}\n", "---\n", "null\n", "\u{feff}"] {
        assert_eq!(
            wrong(text),
            ["the file holds nothing (config.yaml); write what is to hold; {} is a configuration without routes"],
            "{text:?}"
        );
    }
    assert!(read("{}").routes.is_empty());
}
