//! The gateway of the rounds: a route for each way that work can take, and a receiver for each way that answers can.

use super::support::*;

/// Notes its start and its end, each by one write, and answers the event's id. The work between them is short but not nothing.
/// Asked to fail it does so, once an event.
const AGENT: &str = r#"
prompt=$(cat)
echo "START $DOORBELL_EVENT_ID $DOORBELL_RUN_ID $prompt" >> "$1"
sleep 0.0$(( $$ % 5 ))
case $prompt in fail*)
    if ! grep -q "FAIL $DOORBELL_EVENT_ID " "$1"; then
        echo "FAIL $DOORBELL_EVENT_ID $DOORBELL_RUN_ID $prompt" >> "$1"
        exit 1
    fi ;;
esac
echo "END $DOORBELL_EVENT_ID $DOORBELL_RUN_ID $prompt" >> "$1"
echo "answer for $DOORBELL_EVENT_ID"
"#;

/// A target that is a program: notes what it is told.
const TELL: &str = r#"content=$(cat); echo "$DOORBELL_EVENT_ID $content" >> "$1""#;

/// A route, where its answers go, and whether that takes an answer twice without harm.
pub(crate) struct Way {
    pub(crate) route: &'static str,
    pub(crate) target: &'static str,
    pub(crate) safe: bool,
}

pub(crate) const WAYS: [Way; 5] = [
    Way { route: "quick", target: "answers", safe: false },
    Way { route: "serial", target: "hook", safe: false },
    Way { route: "safe", target: "again", safe: true },
    Way { route: "shaky", target: "program", safe: false },
    Way { route: "parked", target: "refused", safe: false },
];

/// The gateway's home and those whom it tells.
pub(crate) struct House {
    pub(crate) bell: Doorbell,
    pub(crate) hook: Receiver,
    pub(crate) again: Receiver,
    pub(crate) refused: Receiver,
    pub(crate) power: Power,
}

impl House {
    /// A house whose gateway has had one short life, so that there is something to come back to.
    pub(crate) fn new() -> House {
        let (hook, again) = (Receiver::new(), Receiver::new());
        let refused = Receiver::answering(vec![Reply::status(400)]);
        let power = Power::new();
        let agent = json!({"preset": "command", "command": ["sh", "-c", AGENT, "agent", "agents.log"], "hint": false, "max_concurrent": 6});
        let webhook = |url: String| json!({"type": "webhook", "url": url, "retry_backoff": "50ms"});
        let mut safe = webhook(again.url());
        safe["idempotent"] = json!(true);
        let home = Home::new()
            .server(json!({"shutdown_grace": "1s"}))
            .set("store", json!({"retention": {"ignored": "1ms"}}))
            .agent("default", agent)
            .target("answers", json!({"type": "file", "path": "answers.jsonl"}))
            .target("program", json!({"type": "command", "command": ["sh", "-c", TELL, "tell", "told"], "cwd": "."}))
            .target("hook", webhook(hook.url()))
            .target("again", safe)
            .target("refused", webhook(refused.url()))
            .route("quick", json!({"prompt": "{n}", "deliver": "answers", "rate_limit": 1_000_000}))
            .route("serial", json!({"prompt": "{line} {n}", "deliver": "hook", "serial_by": "{line}"}))
            .route("safe", json!({"prompt": "{n}", "deliver": "again"}))
            .route(
                "shaky",
                json!({"prompt": "fail {n}", "deliver": "program", "max_retries": 3, "retry_backoff": "20ms"}),
            )
            .route("parked", json!({"prompt": "{n}", "deliver": "refused"}))
            .route("picky", json!({"prompt": "{n}", "deliver": "answers", "events": ["push"]}));
        let mut bell = power.under(home).start();
        bell.kill9();
        House { bell, hook, again, refused, power }
    }

    /// What the next lives are to do at which point; empty for nothing.
    pub(crate) fn at_point(&mut self, plan: &str) {
        self.bell.rewrite(|home| home.env("DOORBELL_AT_POINT", plan));
    }
}
