//! The bench of `examples/load` measures what it says, and writes it where it says. Its figures are not looked at here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::tempdir;

/// What each row begins with, in the order of the table.
const ROWS: [&str; 33] = [
    "fdatasync of a page, before",
    "memory, idle",
    "durable ingest, 1 connection",
    "durable ingest, 16 connections",
    "durable ingest, 64 connections",
    "durable ingest, 256 connections",
    "memory, 1 to 256 connections",
    "largest write-ahead log, ingest",
    "written to the disk for an event, 64 connections",
    "file for a stored event",
    "wake-up, 202 to the agent's first instruction, new ledger",
    "burst of 64, agent of 50 ms, 8 at once",
    "claim of a run, ledger with nothing else",
    "claim of a run, ledger with 100 finished events",
    "claim of a run, ledger with 1,000 finished events",
    "claim of a run, ledger with 100 waiting on another, full route",
    "claim of a run, ledger with 100 waiting in its own serial line",
    "start after a stop, new ledger",
    "start after kill -9 under load, new ledger",
    "start after a stop, 1,000 finished events",
    "start after kill -9 under load, 1,000 finished events",
    "start after a stop, 1,000 finished events and 100 waiting",
    "start after kill -9 under load, 1,000 finished events and 100 waiting",
    "wake-up, 202 to the agent's first instruction, 1,000 finished events and 100 waiting",
    "ingest while 500 old events are removed, 16 connections",
    "removing them meanwhile",
    "largest write-ahead log, meanwhile",
    "durable ingest on PostgreSQL, 16 connections",
    "durable ingest on PostgreSQL, 64 connections",
    "durable ingest on PostgreSQL, 256 connections",
    "memory of the gateway, PostgreSQL, 16 to 256 connections",
    "claim of a run, ledger on PostgreSQL with nothing else",
    "claim of a run, ledger on PostgreSQL with 1,000 finished events",
];

/// The example, which a run of all tests has built beside them.
fn load(arguments: &[&str]) -> Output {
    let tests = std::env::current_exe().expect("our own path");
    let built = tests.ancestors().nth(2).expect("the folder of the build");
    let load: PathBuf = built.join("examples/load");
    assert!(load.exists(), "{} is not there; run: cargo build --example load", load.display());
    #[expect(clippy::disallowed_methods, reason = "tests start the bench")]
    let output = Command::new(load).args(arguments).output().expect("it starts");
    assert!(output.status.success(), "{arguments:?}:\n{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn one_command_fills_one_table() {
    let folder = tempdir().unwrap();
    let (results, keep) = (folder.path().join("RESULTS.md"), folder.path().join("keep"));
    let prose = "By hand, before.\n<!-- measured -->\nold figures\n<!-- /measured -->\nBy hand, behind.\n";
    fs::write(&results, prose).unwrap();
    let doorbell = env!("CARGO_BIN_EXE_doorbell");
    let printed = load(&["all", doorbell, "--quick", "--keep", text(&keep), "--out", text(&results)]);
    let written = fs::read_to_string(&results).unwrap();
    assert!(written.starts_with("By hand, before.\n") && written.ends_with("By hand, behind.\n"), "{written}");
    assert!(!written.contains("old figures"), "{written}");
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert!(written.contains(printed.trim()), "what is printed is what is written");
    let rows: Vec<Vec<&str>> = written
        .lines()
        .filter(|line| line.starts_with("| "))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let (head, rows) = rows.split_first().expect("a table");
    assert_eq!(head[1..], ["measured", "beside it", "Reach"]);
    for (row, name) in rows.iter().zip(ROWS) {
        assert!(row[0].starts_with(name), "{name:?} is not where it belongs: {written}");
        assert!(row.len() == 4 && row[1].contains(|c: char| c.is_ascii_digit()), "{name} has no figure: {written}");
    }
    assert_eq!(rows.len(), ROWS.len(), "{written}");
    let verdicts = rows.iter().flat_map(|row| row[3].split("; ")).filter(|goal| !goal.is_empty());
    for verdict in verdicts {
        let told = verdict.ends_with(": met") || verdict.ends_with(": **not met**");
        assert!(told, "{verdict} says neither that it is met nor that it is not");
    }
    assert!(keep.join("finished-1000-waiting-0-line-0/complete").exists(), "the large ledger is kept");
}

#[test]
fn a_soak_is_told_in_quarters() {
    let folder = tempdir().unwrap();
    let (results, json) = (folder.path().join("RESULTS.md"), folder.path().join("soak.json"));
    let doorbell = env!("CARGO_BIN_EXE_doorbell");
    let load_of = ["--minutes", "0.1", "--rate", "60", "--runs", "4"];
    load(&[&["soak", doorbell, "--out", text(&results), "--json", text(&json)], &load_of[..]].concat());
    let soak: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let samples = soak["samples"].as_array().expect("samples");
    let last = samples.last().expect("a last one");
    for what in ["resident_kib", "file_bytes", "wal_bytes", "accepted", "succeeded", "ignored"] {
        assert!(last[what].as_u64() > Some(0), "{what} of {last}");
    }
    let written = fs::read_to_string(&results).unwrap();
    // Six seconds are no hour, however flat.
    assert!(written.contains("flat over an hour: **not met**"), "{written}");
    assert!(written.contains("in the first quarter") && written.contains("never above 128 MiB: met"), "{written}");
}

#[test]
fn other_systems_have_a_table_of_their_own() {
    let folder = tempdir().unwrap();
    let (results, peers) = (folder.path().join("RESULTS.md"), folder.path().join("peers.json"));
    let one = json!({
        "system": "Another", "version": "1.2", "stored": "nothing", "connections": 64, "accepted_per_s": 1234.5,
        "p50_ms": 3.25, "p99_ms": null, "rss_mb": 80, "accepted": 5000, "really_run": 4990, "waiting": 10,
        "after_kill": {"accepted": 100, "not_run": 3},
        "accepted_means": "it was read"
    });
    fs::write(&peers, json!([one]).to_string()).unwrap();
    load(&["peers", text(&peers), "--out", text(&results)]);
    let written = fs::read_to_string(&results).unwrap();
    let row =
        "| Another 1.2 | 64 | 1,235/s | 3.2 ms | – | 80 MB | 5,000 / 4,990 / 10 | 3 of 100 | it was read | nothing |";
    assert!(written.contains(row), "{written}");
    assert!(written.find("<!-- peers -->") < written.find(row) && written.find(row) < written.find("<!-- /peers -->"));
}

#[test]
fn any_system_can_be_driven() {
    let receiver = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("http://{}/hook", receiver.local_addr().unwrap());
    let taken = std::thread::spawn(move || answer_in_turn(&receiver, 12));
    let ask = ["drive", "--to", &to, "--sign", "X-Sig=v1,hmac-sha256-hex", "--secret", "s", "--json"];
    let output = load(&[&ask[..], &["--connections", "1", "--requests", "12", "--body-bytes", "300"]].concat());
    let line: Value = serde_json::from_slice(&output.stdout).expect("one line of JSON");
    let counts = ["sent", "accepted", "refused", "errors", "reconnects"].map(|name| line[name].as_u64().unwrap());
    // Every third is refused; after every fourth answer the connection is closed, the last time with nothing to follow.
    assert_eq!(counts, [12, 8, 4, 0, 2], "{line}");
    assert!(line["p99_ms"].as_f64() <= line["max_ms"].as_f64() && line["per_second"].as_f64() > Some(0.0), "{line}");
    for (head, body) in taken.join().unwrap() {
        assert_eq!(body.len(), 300);
        let signature = verify::sign::github(&verify::Secret::new("s"), &body).replace("sha256=", "v1,");
        assert!(head.contains(&format!("X-Sig: {signature}\r\n")), "{head}");
    }
}

/// Takes requests, refuses every third, and closes the connection behind every fourth answer.
fn answer_in_turn(receiver: &std::net::TcpListener, count: usize) -> Vec<(String, Vec<u8>)> {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    let mut taken = Vec::new();
    while taken.len() < count {
        let (mut write, _) = receiver.accept().unwrap();
        let mut read = BufReader::new(write.try_clone().unwrap());
        while taken.len() < count {
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                assert!(read.read_line(&mut head).unwrap() > 0, "the sender keeps its connection");
            }
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
            let mut body = vec![0; length.expect("a length")];
            read.read_exact(&mut body).unwrap();
            taken.push((head, body));
            let status = if taken.len().is_multiple_of(3) { "429 Too Many Requests" } else { "200 OK" };
            // Said on one of three, done without a word on the others: senders must bear both.
            let close = if taken.len() == 4 { "Connection: close\r\n" } else { "" };
            write!(write, "HTTP/1.1 {status}\r\nContent-Length: 2\r\n{close}\r\nok").unwrap();
            if taken.len().is_multiple_of(4) {
                break;
            }
        }
    }
    taken
}
