//! The way of an answer: to every kind of target, through refusals, silence and doubt, and never at the price of a second run.

mod support;

use support::*;
use verify::{Secret, sign};

/// A gateway with a target `there` of these keys; route `r` delivers to it.
fn teller(agent: &Agent, target: Value) -> Home {
    Home::with(agent).target("there", target).route("r", json!({"prompt": "{n}", "deliver": "there"}))
}

fn webhook(receiver: &Receiver, more: Value) -> Value {
    let mut target = json!({"type": "webhook", "url": format!("{}/in?x=1", receiver.url()), "retry_backoff": "50ms"});
    let Value::Object(more) = more else { panic!("keys are a mapping") };
    target.as_object_mut().unwrap().extend(more);
    target
}

/// Rings once and answers the one delivery, once it has ended.
fn delivered(bell: &Doorbell) -> Value {
    let event = bell.send("r", &json!({"n": 1}));
    let mut all = bell.settled(&event);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(bell.event(&event)["state"], "succeeded", "a target has no say in that");
    all.remove(0)
}

#[test]
fn the_log_tells_an_answer_on_one_line() {
    let agent = Agent::answering("first\nERROR forged line\x1b[2J");
    let bell = Home::with(&agent).start();
    let event = bell.send("r", &json!({}));
    assert_eq!(bell.settled(&event)[0]["state"], "delivered");
    bell.wait_log("forged line");
    let line = bell.log().lines().find(|line| line.contains("forged line")).map(str::to_owned).unwrap();
    assert!(line.contains("first") && line.contains(r"\u{1b}[2J") && line.contains(" answer "), "{line}");
}

#[test]
fn a_file_gets_a_line_for_each_answer() {
    let agent = Agent::new();
    let bell = teller(&agent, json!({"type": "file", "path": "deep/er/answers.jsonl"})).start();
    for n in 0..3 {
        let event = bell.send("r", &json!({"n": format!("line\n{n}")}));
        assert_eq!(bell.settled(&event)[0]["state"], "delivered");
    }
    let contents: Vec<Value> =
        bell.home().lines("deep/er/answers.jsonl").into_iter().map(|line| line["content"].clone()).collect();
    assert_eq!(contents, ["answer to: line\n0", "answer to: line\n1", "answer to: line\n2"]);
    let mode = |path: &str| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(bell.home().join(path)).unwrap().permissions().mode() & 0o777
    };
    assert_eq!((mode("deep/er/answers.jsonl"), mode("deep/er"), mode("deep")), (0o600, 0o700, 0o700));
}

#[test]
fn a_webhook_is_signed_as_the_receiver_wants_it() {
    let agent = Agent::answering("Signed answer ✓");
    let receiver = Receiver::new();
    let (hermes, standard) = ("out-secret-not-real", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
    let bell = teller(&agent, webhook(&receiver, json!({"secret": hermes, "headers": {"X-Room": "42"}})))
        .target("standard", webhook(&receiver, json!({"secret": standard, "style": "standard"})))
        .route("s", json!({"prompt": "x", "deliver": "standard"}))
        .start();
    let event = bell.ring("r").id("provider-1").header("X-Hermes-Hop", "1").accepted();
    let delivery = bell.settled(&event).remove(0);
    let seen = receiver.wait(1).remove(0);
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/in?x=1"));
    assert_eq!(
        seen.json(),
        json!({
            "id": delivery["id"], "event_id": event, "run_id": delivery["run_id"], "route": "r", "event": "push",
            "delivery_id": "provider-1", "content": "Signed answer ✓", "created_at": delivery["created_at"], "hop": 2,
        })
    );
    let header = |name: &str| seen.header(name).unwrap_or_else(|| panic!("{name}: {seen:?}"));
    assert_eq!(header("x-hermes-signature-256"), sign::hermes(&Secret::new(hermes), &seen.body));
    assert_eq!((header("x-hermes-event"), header("x-hermes-hop"), header("x-room")), ("delivery", "2", "42"));
    assert_eq!(
        (header("x-hermes-delivery"), header("content-type")),
        (delivery["id"].as_str().unwrap(), "application/json")
    );

    bell.settled(&bell.send("s", &json!({})));
    let seen = receiver.wait(2).remove(1);
    let (id, at) = (seen.header("webhook-id").unwrap(), seen.header("webhook-timestamp").unwrap().parse().unwrap());
    assert_eq!(seen.header("webhook-signature").unwrap(), sign::standard(&Secret::new(standard), id, at, &seen.body));
    assert!(id.starts_with("dlv_") && (now_s() - at).abs() < 60, "{id} {at}");
    assert!(!bell.log().contains(hermes) && !bell.log().contains(standard));
}

#[test]
fn a_program_gets_the_answer_on_stdin_and_values_in_its_environment() {
    let agent = Agent::answering("--version; $(rm -rf /)\nsecond line");
    let script = "cat > told; env > told.env; [ \"$DOORBELL_EXTRA_LEVEL\" = 7 ]";
    let target = json!({"type": "command", "command": ["sh", "-c", script], "env": {"ADDED": "one"}});
    let extra = json!({"level": "{n}", "chat-id": "{who.name}", "empty": ""});
    let bell = teller(&agent, target)
        .route("r", json!({"prompt": "x", "deliver": "there", "deliver_extra": extra}))
        .env("LEAK", "leaked")
        .start();
    let event = bell.send("r", &json!({"n": 7, "who": {"name": "-rf $(id)"}}));
    assert_eq!(bell.settled(&event)[0]["state"], "delivered");
    let read = |name: &str| std::fs::read_to_string(bell.home().join(name)).unwrap();
    assert_eq!(read("told"), "--version; $(rm -rf /)\nsecond line");
    let env = read("told.env");
    for line in
        ["ADDED=one", "DOORBELL_EXTRA_CHAT_ID=-rf $(id)", "DOORBELL_ROUTE=r", &format!("DOORBELL_EVENT_ID={event}")]
    {
        assert!(env.lines().any(|known| known == line), "{line} in {env}");
    }
    assert!(!env.contains("leaked") && !env.contains("DOORBELL_EXTRA_EMPTY"), "{env}");
}

#[test]
fn a_programs_exit_says_whether_to_come_again() {
    // Fails once in a passing way, then succeeds; the other refuses for good.
    let agent = Agent::new();
    let once = "[ -e tried ] || { touch tried; echo busy >&2; exit 1; }";
    let bell = teller(&agent, json!({"type": "command", "command": ["sh", "-c", once], "retry_backoff": "50ms"}))
        .target("never", json!({"type": "command", "command": ["sh", "-c", "echo no such chat >&2; exit 65"]}))
        .route("n", json!({"prompt": "x", "deliver": "never"}))
        .start();
    let delivery = delivered(&bell);
    assert_eq!(
        (&delivery["state"], &delivery["attempts"], &delivery["error"]),
        (&json!("delivered"), &json!(2), &json!(null))
    );
    let event = bell.send("n", &json!({}));
    let refused = bell.settled(&event).remove(0);
    assert_eq!((&refused["state"], &refused["attempts"]), (&json!("exhausted"), &json!(1)));
    assert!(refused["error"].as_str().unwrap().contains("no such chat"), "{refused}");
}

#[test]
fn silence_is_kept_and_not_told() {
    let receiver = Receiver::new();
    let agent = Agent::answering("[SILENT]");
    let bell = teller(&agent, webhook(&receiver, json!({}))).start();
    let quiet = delivered(&bell);
    assert_eq!((&quiet["state"], &quiet["attempts"]), (&json!("suppressed"), &json!(0)));
    agent.tell("answer", "I said [SILENT] to nobody.");
    assert_eq!(delivered(&bell)["state"], "delivered");
    assert_eq!(receiver.seen().len(), 1);
    let answers: Vec<Value> = bell.list("/runs").into_iter().map(|run| run["answer"].clone()).collect();
    assert_eq!(answers, ["I said [SILENT] to nobody.", "[SILENT]"], "what was said is on record");
}

#[test]
fn a_refusal_for_now_is_tried_again_and_the_receivers_wish_is_kept() {
    let agent = Agent::new();
    let busy = Reply::With(429, vec![("Retry-After", "1".to_owned())], r#"{"message": "slow down"}"#);
    let receiver = Receiver::answering(vec![Reply::status(503), busy, Reply::status(200)]);
    let bell = teller(&agent, webhook(&receiver, json!({}))).start();
    let event = bell.send("r", &json!({}));
    let waiting = until_some("it waits as it was asked to", || {
        bell.deliveries(&event).into_iter().find(|delivery| delivery["error"] == "HTTP 429: slow down")
    });
    let time = |value: &Value| value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_millisecond();
    assert_eq!((&waiting["state"], &waiting["attempts"]), (&json!("failed"), &json!(2)));
    let done = bell.settled(&event).remove(0);
    assert_eq!((&done["state"], &done["attempts"]), (&json!("delivered"), &json!(3)));
    assert!(time(&done["delivered_at"]) >= time(&waiting["due_at"]));
    assert!(time(&waiting["due_at"]) - time(&waiting["created_at"]) >= 1000, "{waiting}");
    assert_eq!((receiver.seen().len(), agent.runs().len()), (3, 1));
}

#[test]
fn some_refusals_are_final() {
    let agent = Agent::new();
    let moved = vec![("Location", "http://127.0.0.1:9/stolen".to_owned())];
    let receiver = Receiver::answering(vec![
        Reply::With(403, Vec::new(), r#"{"error": {"message": "not in this channel"}}"#),
        Reply::With(302, moved, ""),
        Reply::status(404),
    ]);
    let bell = teller(&agent, webhook(&receiver, json!({}))).start();
    for words in ["not in this channel", "redirect", "HTTP 404"] {
        let refused = delivered(&bell);
        assert_eq!((&refused["state"], &refused["attempts"]), (&json!("exhausted"), &json!(1)));
        assert!(refused["error"].as_str().unwrap().contains(words), "{refused}");
    }
    assert_eq!((receiver.seen().len(), agent.runs().len()), (3, 3));
}

#[test]
fn tries_end_and_a_person_can_begin_them_again() {
    let agent = Agent::answering("worth telling");
    let receiver = Receiver::scripted(|number, _| Reply::status(if number < 3 { 500 } else { 200 }));
    let bell = teller(&agent, webhook(&receiver, json!({"max_attempts": 3}))).start();
    let given_up = delivered(&bell);
    assert_eq!((&given_up["state"], &given_up["attempts"]), (&json!("exhausted"), &json!(3)));
    let id = given_up["id"].as_str().unwrap();
    let answer = bell.admin("POST", &format!("/api/v1/deliveries/{id}/retry"));
    assert_eq!(answer.status, 202, "{answer:?}");
    let done = bell.settled(given_up["event_id"].as_str().unwrap()).remove(0);
    assert_eq!((&done["state"], &done["content"]), (&json!("delivered"), &json!("worth telling")));
    assert_eq!((receiver.seen().len(), agent.runs().len()), (4, 1));
    assert!(bell.admin("POST", &format!("/api/v1/deliveries/{id}/retry")).status >= 400, "it has arrived");
}

#[test]
fn without_an_answer_nobody_knows_and_nobody_tries_again() {
    let agent = Agent::new();
    let receiver = Receiver::answering(vec![Reply::HangUp, Reply::status(200)]);
    let bell = teller(&agent, webhook(&receiver, json!({}))).start();
    let unknown = delivered(&bell);
    assert_eq!((&unknown["state"], &unknown["attempts"]), (&json!("unknown"), &json!(1)), "{unknown}");
    assert_eq!(delivered(&bell)["state"], "delivered", "the next one goes out");
    assert_eq!(receiver.seen().len(), 2, "and the first one stays as it is");
    let id = unknown["id"].as_str().unwrap();
    assert_eq!(bell.admin("POST", &format!("/api/v1/deliveries/{id}/retry")).status, 202, "a person may");
    receiver.wait(3);
    assert_eq!(bell.settled(unknown["event_id"].as_str().unwrap())[0]["state"], "delivered");
}

#[test]
fn a_slow_receiver_is_unknown_unless_a_second_copy_does_no_harm() {
    let agent = Agent::new();
    let gate = Gate::default();
    let receiver = Receiver::answering(vec![Reply::When(gate.clone()), Reply::When(gate.clone()), Reply::status(200)]);
    let bell = teller(&agent, webhook(&receiver, json!({"timeout": "300ms"})))
        .target("safe", webhook(&receiver, json!({"timeout": "300ms", "idempotent": true})))
        .route("safe", json!({"prompt": "x", "deliver": "safe"}))
        .start();
    assert_eq!(delivered(&bell)["state"], "unknown");
    let event = bell.send("safe", &json!({}));
    let safe = bell.settled(&event).remove(0);
    assert_eq!((&safe["state"], &safe["attempts"]), (&json!("delivered"), &json!(2)));
    gate.open();
}

#[test]
fn nobody_at_home_is_tried_again() {
    let agent = Agent::new();
    // A port that no program is given by chance.
    let target = json!({"type": "webhook", "url": "http://127.0.0.1:1/", "retry_backoff": "50ms", "max_attempts": 2});
    let bell = teller(&agent, target).start();
    let delivery = delivered(&bell);
    assert_eq!((&delivery["state"], &delivery["attempts"]), (&json!("exhausted"), &json!(2)));
    assert!(delivery["error"].as_str().unwrap().contains("not sent"), "{delivery}");
}

#[test]
fn each_of_several_targets_has_a_fate_of_its_own() {
    let agent = Agent::new();
    let receiver = Receiver::answering(vec![Reply::status(500)]);
    let extra = json!({"notes": {"path": "notes.jsonl"}, "there": {"tag": "{missing.value}"}});
    let bell = teller(&agent, json!({"type": "command", "command": ["cat"]}))
        .target("notes", json!({"type": "file"}))
        .target("down", webhook(&receiver, json!({"max_attempts": 2})))
        .route("r", json!({"prompt": "x", "deliver": ["log", "notes", "there", "down"], "deliver_extra": extra}))
        .start();
    let event = bell.send("r", &json!({}));
    let ends: Vec<(String, String)> = bell
        .settled(&event)
        .iter()
        .map(|delivery| {
            (delivery["target"].as_str().unwrap().to_owned(), delivery["state"].as_str().unwrap().to_owned())
        })
        .collect();
    let expected = [("log", "delivered"), ("notes", "delivered"), ("there", "exhausted"), ("down", "exhausted")];
    assert_eq!(ends, expected.map(|(target, state)| (target.to_owned(), state.to_owned())));
    let unresolved = &bell.deliveries(&event)[2];
    assert!(unresolved["error"].as_str().unwrap().contains("missing.value"), "{unresolved}");
    assert_eq!(unresolved["attempts"], 0, "a value that is not there is never sent");
    assert_eq!((bell.home().lines("notes.jsonl").len(), agent.runs().len()), (1, 1));
}

#[test]
fn a_file_target_that_is_a_pipe_without_a_reader_holds_nothing_up() {
    let agent = Agent::new();
    let home = Home::with(&agent).target("there", json!({"type": "file", "path": "fifo", "max_attempts": 1}));
    let home = home.route("r", json!({"prompt": "x", "deliver": "there"}));
    let made = rustix::fs::mknodat(
        rustix::fs::CWD,
        home.join("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    );
    made.expect("a named pipe");
    let mut bell = home.start();
    let event = bell.send("r", &json!({}));
    let delivery = bell.settled(&event).remove(0);
    assert_eq!(delivery["state"], "exhausted", "{delivery}");
    assert_eq!(bell.stop(), 0);
}
