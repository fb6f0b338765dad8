//! The agents that the gateway under measurement wakes: this program itself.

use std::io::Read as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Notes when it was started, in a file named by the prompt.
pub(crate) fn stamp(pattern: &str) {
    let now = now();
    let file = pattern.replace("{}", prompt().trim());
    let partial = format!("{file}.partial");
    std::fs::write(&partial, now.as_nanos().to_string()).expect("a stamp");
    std::fs::rename(partial, file).expect("a stamp in its place");
    println!("stamped");
}

/// Works for so long.
pub(crate) fn work(millis: u64) {
    prompt();
    std::thread::sleep(Duration::from_millis(millis));
    println!("done");
}

fn prompt() -> String {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("a prompt");
    text
}

/// Since 1970.
pub(crate) fn now() -> Duration {
    #[expect(clippy::disallowed_methods, reason = "two processes compare their wall clocks")]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH).expect("a clock after 1970")
}

pub(crate) fn now_ms() -> i64 {
    i64::try_from(now().as_millis()).expect("a time before the year 292 million")
}
