//! Values that must be literals: a stranger's payload never picks a path or where a credential goes.

use serde_json::{Map, Value};
use url::Url;

use crate::options::{TargetError, is_given, text_of};
use crate::step::Invalid;

/// The first `{placeholder}` in a text.
fn placeholder(text: &str) -> Option<&str> {
    let open = text.find('{')?;
    let rest = &text[open..];
    let close = rest.find('}')?;
    Some(&rest[..=close])
}

fn no_placeholder(text: &str) -> Result<(), String> {
    match placeholder(text) {
        Some(found) => {
            Err(format!("holds the placeholder `{found}`; it must be a literal, so that no payload picks it"))
        }
        None => Ok(()),
    }
}

/// Checks the path of a file: a literal, no folder; a relative one stays below the home.
pub(crate) fn check_file(path: &str) -> Result<(), String> {
    no_placeholder(path)?;
    check_folder(path)?;
    if path.ends_with(['/', '\\']) || path.ends_with("/.") || path == "." {
        return Err("is a folder; name a file in it".to_owned());
    }
    let leaves = std::path::Path::new(path).is_relative() && path.split('/').any(|part| part == "..");
    if leaves { Err("leaves Doorbell's home by `..`; write an absolute path".to_owned()) } else { Ok(()) }
}

/// Checks a folder to run in.
pub(crate) fn check_folder(path: &str) -> Result<(), String> {
    if path.trim().is_empty() {
        Err("is blank".to_owned())
    } else if path.starts_with('~') {
        Err("begins with `~`, which is not expanded; write ${HOME}".to_owned())
    } else if path.contains('\0') {
        Err("holds a NUL character, which no path can".to_owned())
    } else {
        Ok(())
    }
}

/// Checks the address of a receiver: a literal, http or https, with a host. The message never holds the address.
pub(crate) fn check_url(text: &str) -> Result<(), String> {
    no_placeholder(text)?;
    let url = Url::parse(text.trim()).map_err(|error| format!("is not a URL ({error}); write https://host/path"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("has the scheme `{}`; only http and https can be posted to", url.scheme()));
    }
    Ok(())
}

/// What is wrong with a literal that a route or the settings must give: `from_settings` says that the settings have it.
pub(crate) fn check_route(
    key: &str,
    extra: &Map<String, Value>,
    from_settings: bool,
    check: fn(&str) -> Result<(), String>,
) -> Option<TargetError> {
    let Some(value) = extra.get(key).filter(|value| is_given(value)) else {
        let missing = format!("missing: give `{key}` in the target's settings or in `deliver_extra`");
        return (!from_settings).then(|| TargetError::new(key, missing));
    };
    match text_of(value) {
        Some(text) => check(&text).err().map(|why| TargetError::new(key, why)),
        None => Some(TargetError::new(key, "expected a text")),
    }
}

/// The literal for one delivery: the route's, else the settings'.
pub(crate) fn pick(
    key: &str,
    extra: &Map<String, Value>,
    settings: Option<&str>,
    check: fn(&str) -> Result<(), String>,
) -> Result<String, Invalid> {
    if let Some(error) = check_route(key, extra, settings.is_some(), check) {
        return Err(Invalid(error.to_string()));
    }
    let from_route = extra.get(key).filter(|value| is_given(value)).and_then(text_of);
    let picked = from_route.or_else(|| settings.map(str::to_owned));
    picked.ok_or_else(|| Invalid(format!("{key}: missing")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_literals_that_stay_where_they_are_put() {
        for good in ["out.jsonl", "out/answers.jsonl", "/var/log/a.jsonl", "a..b", "/x/../y", "curly{"] {
            assert_eq!(check_file(good), Ok(()), "{good}");
        }
        for (bad, word) in [
            ("out/{repo}.jsonl", "`{repo}`"),
            ("../x", "leaves"),
            ("a/../../x", "leaves"),
            ("out/", "folder"),
            ("~/x", "${HOME}"),
            (" ", "blank"),
            ("a\0b", "NUL"),
        ] {
            let why = check_file(bad).expect_err(bad);
            assert!(why.contains(word), "{bad}: {why}");
        }
    }

    #[test]
    fn urls_are_literal_and_of_the_web() {
        for good in ["http://127.0.0.1:9/in", "https://u:p@example.test/x?y=1", "https://[::1]/"] {
            assert_eq!(check_url(good), Ok(()), "{good}");
        }
        for bad in
            ["https://{host}/x", "ftp://example.test", "file:///etc/passwd", "example.test/x", "https://", "data:,x"]
        {
            let why = check_url(bad).expect_err(bad);
            assert!(!why.contains("example"), "{why}");
        }
    }
}
