//! What the demo's home holds, and how its agents are waited for.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use gateway::process::write_private;

/// The route of the first steps.
pub(super) const REVIEW: &str = "github-review";
/// The route whose first run takes long.
pub(super) const SLOW: &str = "slow-review";

/// The demo's agent: a real process that reads its prompt from standard input and answers on standard output.
const AGENT: &str = r#"#!/bin/sh
# $1: a file to touch when started; $2: seconds that the first attempt takes.
prompt=$(cat)
: > "$1"
[ "$DOORBELL_ATTEMPT" -gt 1 ] || sleep "$2"
printf 'I was asked: "%s" (attempt %s, run %s)\n' "$(printf '%s' "$prompt" | tail -n 1)" "$DOORBELL_ATTEMPT" "$DOORBELL_RUN_ID"
"#;

/// How long the demo waits for its own processes.
const PATIENCE: Duration = Duration::from_secs(40);

/// Writes configuration and agent into the home and answers the routes' secret.
pub(super) fn write_home(home: &Path) -> anyhow::Result<String> {
    let secret = gateway::chance::secret(16);
    let agent = home.join("agent.sh");
    let started = home.join("started");
    let (agent_shown, started_shown) = (agent.display(), started.display());
    let config = format!(
        "server: {{port: 0, secret: \"{secret}\"}}\n\
         admin: {{port: 0}}\n\
         agents:\n\
         \x20 quick: {{preset: command, command: [sh, \"{agent_shown}\", /dev/null, \"0\"]}}\n\
         \x20 slow: {{preset: command, command: [sh, \"{agent_shown}\", \"{started_shown}\", \"60\"]}}\n\
         targets:\n\
         \x20 file: {{path: answers.jsonl}}\n\
         routes:\n\
         \x20 {REVIEW}:\n\
         \x20   source: github\n\
         \x20   events: [pull_request]\n\
         \x20   prompt: \"Review pull request #{{number}} of {{repository.full_name}}: {{pull_request.title}}\"\n\
         \x20   agent: quick\n\
         \x20   deliver: file\n\
         \x20 {SLOW}:\n\
         \x20   source: github\n\
         \x20   prompt: \"Review #{{number}} thoroughly: {{pull_request.title}}\"\n\
         \x20   agent: slow\n\
         \x20   deliver: file\n"
    );
    write(&agent, AGENT)?;
    write(&home.join("config.yaml"), &config)?;
    Ok(secret)
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    write_private(path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

/// The routes of the configuration, indented for reading.
pub(super) fn shown_config(home: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(home.join("config.yaml")).context("cannot read the configuration")?;
    let routes: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("routes:")).collect();
    Ok(format!("   {}\n", routes.join("\n   ")))
}

/// A webhook body as GitHub sends it, shortened.
pub(super) fn pull_request(number: u32, title: &str) -> String {
    serde_json::json!({
        "action": "opened",
        "number": number,
        "pull_request": {"title": title, "user": {"login": "octocat"}},
        "repository": {"full_name": "octo-org/app"},
    })
    .to_string()
}

/// Waits for the `n`th answer of the file target and gives its line.
pub(super) fn wait_for_answer(home: &Path, n: usize) -> anyhow::Result<String> {
    let read = || fs::read_to_string(home.join("answers.jsonl")).ok()?.lines().nth(n - 1).map(str::to_owned);
    wait_for(read).with_context(|| format!("answer {n} did not come"))
}

/// Waits until the slow agent works.
pub(super) fn wait_until_started(home: &Path) -> anyhow::Result<()> {
    wait_for(|| home.join("started").exists().then_some(())).context("the slow agent did not start")
}

fn wait_for<T>(look: impl Fn() -> Option<T>) -> Option<T> {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if Instant::now() > end {
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
