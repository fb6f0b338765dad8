//! Wake-up: from the sender's 202 to the first instruction of the agent.

use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::figures::Figures;
use crate::gateway::Gateway;
use crate::requests::{Line, signed};

/// Serves as the agent: writes down when it was started, in a file named by the prompt.
pub(crate) fn stamp(pattern: &str) {
    let now = now();
    let mut id = String::new();
    std::io::stdin().read_to_string(&mut id).expect("a prompt");
    let file = pattern.replace("{}", id.trim());
    let partial = format!("{file}.partial");
    std::fs::write(&partial, now.as_nanos().to_string()).expect("a stamp");
    std::fs::rename(partial, file).expect("a stamp in its place");
    println!("stamped");
}

pub(crate) fn measure(gateway: &Gateway, times: usize) -> Figures {
    let mut line = Line::open(gateway.address);
    let took = (0..times)
        .map(|n| {
            let id = format!("wake-{n}");
            assert_eq!(line.ask(&signed("wake", &id, 512)), 202, "the gateway refused");
            let acknowledged = now();
            read_stamp(&gateway.stamps.join(id)).saturating_sub(acknowledged)
        })
        .collect();
    Figures::new(took)
}

fn read_stamp(file: &Path) -> Duration {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        if let Ok(text) = std::fs::read_to_string(file) {
            return Duration::from_nanos(text.parse().expect("nanoseconds"));
        }
        assert!(Instant::now() < end, "no agent was woken for {}", file.display());
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn now() -> Duration {
    #[expect(clippy::disallowed_methods, reason = "two processes compare their wall clocks")]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH).expect("a clock after 1970")
}
