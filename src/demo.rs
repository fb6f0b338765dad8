//! `doorbell demo`: the main job in a temporary home, told step by step, with a real gateway that is killed on the way.

mod gateway;
mod ring;
mod story;

use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;

use gateway::Gateway;
use story::{REVIEW, SLOW};

/// Tells the story on standard output. With `keep` the gateway stays until Ctrl-C.
pub(crate) fn run(keep: bool) -> anyhow::Result<()> {
    let home = tempfile::Builder::new().prefix("doorbell-demo-").tempdir().context("cannot make a temporary folder")?;
    let secret = story::write_home(home.path())?;
    say(&format!("A gateway with its home in {}, and two routes of it:", home.path().display()))?;
    say(&story::shown_config(home.path())?)?;
    let mut gateway = Gateway::start(home.path())?;
    say(&format!("It listens on {} for webhooks, on {} for you.\n", gateway.public, gateway.admin))?;
    ring_and_answer(&gateway, home.path(), &secret)?;
    gateway = kill_and_recover(gateway, home.path(), &secret)?;
    show_ledger(&gateway)?;
    if keep {
        let home = home.path().display();
        say(&format!(
            "\nThe gateway stays until Ctrl-C. Its dashboard: {}\n  sign in with: doorbell open --home {home}",
            gateway.admin
        ))?;
        gateway.wait()?;
    } else {
        say(&format!("\nThe dashboard was at {}; `doorbell demo --keep` leaves it open for you.", gateway.admin))?;
        gateway.stop()?;
    }
    Ok(())
}

fn ring_and_answer(gateway: &Gateway, home: &Path, secret: &str) -> anyhow::Result<()> {
    say("1. GitHub rings: a signed pull_request webhook.")?;
    let body = story::pull_request(7, "Fix the login");
    let answer = ring::github(gateway.public_address, REVIEW, secret, "demo-delivery-1", &body)?;
    say(&format!("   {answer}"))?;
    let line = story::wait_for_answer(home, 1)?;
    say(&format!(
        "   The event was on disk before that answer, woke an agent process, and this was delivered:\n   {line}\n"
    ))?;
    say("2. GitHub sends the same delivery again.")?;
    let answer = ring::github(gateway.public_address, REVIEW, secret, "demo-delivery-1", &body)?;
    say(&format!("   {answer}\n"))?;
    say("3. Somebody else rings, without the secret.")?;
    let answer = ring::github(gateway.public_address, REVIEW, "not the secret", "demo-delivery-2", &body)?;
    say(&format!("   {answer}\n"))
}

fn kill_and_recover(gateway: Gateway, home: &Path, secret: &str) -> anyhow::Result<Gateway> {
    say("4. A longer run begins, and the gateway is killed in the middle of it (kill -9).")?;
    let body = story::pull_request(8, "Rewrite the parser");
    let answer = ring::github(gateway.public_address, SLOW, secret, "demo-delivery-3", &body)?;
    say(&format!("   {answer}"))?;
    story::wait_until_started(home)?;
    gateway.kill()?;
    say("   Killed. Its warden ends the orphaned agent; the gateway is started again …")?;
    let gateway = Gateway::start(home)?;
    let line = story::wait_for_answer(home, 2)?;
    say(&format!("   … and has recovered: the event ran again, its answer is delivered once:\n   {line}\n"))?;
    Ok(gateway)
}

fn show_ledger(gateway: &Gateway) -> anyhow::Result<()> {
    say("5. What the ledger remembers:")?;
    let runs = ring::admin(gateway.admin_address, &gateway.token, "/api/v1/runs")?;
    let items = runs["items"].as_array().cloned().unwrap_or_default();
    for run in items.iter().rev() {
        let field = |name: &str| run[name].as_str().unwrap_or("").to_owned();
        say(&format!("   {} {} attempt {} {}", field("id"), field("route"), run["attempt"], field("state")))?;
    }
    Ok(())
}

/// A line for the person who watches. A closed pipe ends the demo.
fn say(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).context("cannot write to standard output")
}
