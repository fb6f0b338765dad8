//! Pages that are generated: they must say what the code says. `DOORBELL_BLESS=1` writes them anew.

use std::path::PathBuf;
use std::process::Command;

use rules::states::mermaid;
use rules::states::table::{DELIVERIES, DELIVERY_STARTS, EVENT_STARTS, EVENTS};

fn page(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)
}

fn matches_page(name: &str, generated: &str) {
    let path = page(name);
    if std::env::var_os("DOORBELL_BLESS").is_some() {
        std::fs::write(&path, generated).expect("the page can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == generated,
        "{} is out of date; run: DOORBELL_BLESS=1 cargo test --test reference",
        path.display()
    );
}

#[test]
fn states_page() {
    let text = format!(
        "# States\n\nGenerated from `crates/rules/src/states/table.rs`, which the ledger and its tests go by.\n\n\
         ## Events\n\n```mermaid\n{}```\n\n`held` has a reason: `paused` (the route is paused) or `route_missing` (the route is not in the \
         configuration).\nAn event that runs, or waits for its retry, holds its line: later events of the same `serial_by` value wait for it.\n\n\
         ## Deliveries\n\n```mermaid\n{}```\n\nA delivery begins `suppressed` when the answer is a silence marker, and `exhausted` when a value of \
         `deliver_extra`\ncannot be filled from the event. `unknown` is never sent again by itself.\n\n\
         ## Runs\n\n`running`, then once and for all `succeeded`, `failed`, `interrupted` (kill, crash, polite stop) or `stopped` (by a person).\n\
         Another try is another run.\n",
        mermaid(EVENT_STARTS, EVENTS),
        mermaid(DELIVERY_STARTS, DELIVERIES),
    );
    matches_page("states.md", &text);
}

#[test]
fn configuration_schema() {
    #[expect(clippy::disallowed_methods, reason = "the binary under test")]
    let output = Command::new(env!("CARGO_BIN_EXE_doorbell")).arg("schema").output().expect("doorbell runs");
    assert!(output.status.success(), "{output:?}");
    matches_page("reference/config.schema.json", &String::from_utf8(output.stdout).expect("UTF-8"));
}

#[test]
fn examples_are_accepted_and_shown_as_they_are() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let read = |path: PathBuf| std::fs::read_to_string(path).expect("a page");
    let guides = std::fs::read_dir(root.join("docs/guides")).expect("guides").flatten().map(|entry| read(entry.path()));
    let pages: Vec<String> = std::iter::once(read(root.join("README.md"))).chain(guides).collect();
    let mut seen = 0;
    for entry in std::fs::read_dir(root.join("examples")).expect("examples").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|ending| ending != "yaml") {
            continue;
        }
        let text = read(path.clone());
        let shown = pages.iter().any(|page| page.contains(&format!("```yaml\n{}\n```", text.trim_end())));
        assert!(shown, "neither README.md nor a guide shows {} as it is", path.display());
        let home = tempfile::tempdir().expect("a home");
        #[expect(clippy::disallowed_methods, reason = "the binary under test")]
        let output = Command::new(env!("CARGO_BIN_EXE_doorbell"))
            .args(["check", "--config"])
            .arg(&path)
            .arg("--home")
            .arg(home.path())
            .env("GITHUB_WEBHOOK_SECRET", "a-secret-for-the-example")
            .env("NODE_NAME", "one")
            .env("DOORBELL_STORE_URL", "postgres://doorbell:secret@db.example.net/doorbell")
            .output()
            .expect("doorbell runs");
        assert!(output.status.success(), "{}: {output:?}", path.display());
        seen += 1;
    }
    assert!(seen > 0, "there are examples");
}
