//! Who is believed, who is not, and that nobody learns a secret from what is stored, shown or logged.

mod support;

use support::*;

type Headers = Vec<(String, String)>;

/// A route `r` that takes every scheme; `agent` are the options of its agent.
fn open_house(agent: Value) -> Home {
    Home::new().agent("default", agent).route("r", json!({"prompt": "rung"}))
}

fn one(name: &str, value: impl Into<String>) -> Headers {
    vec![(name.to_owned(), value.into())]
}

/// The headers that each scheme of `source: auto` signs a body with, by the scheme's source; the first is the signature.
fn signed(source: &str, secret: &str, at: i64, body: &[u8]) -> Headers {
    let hex = hex_hmac(secret, body);
    match source {
        "svix" | "standard-webhooks" => {
            let family = if source == "svix" { "svix" } else { "webhook" };
            let mut headers = standard_headers(family, secret, &fresh_id(), at, body);
            headers.rotate_right(1);
            headers
        }
        "linear" => one("Linear-Signature", hex),
        "github" => one("X-Hub-Signature-256", format!("sha256={hex}")),
        "hermes" => one("X-Hermes-Signature-256", format!("sha256={hex}")),
        "gitlab" => one("X-Gitlab-Token", secret),
        "generic-v2" => {
            let stamped = hex_hmac(secret, &[format!("{at}.").as_bytes(), body].concat());
            vec![("X-Webhook-Signature-V2".into(), stamped), ("X-Webhook-Timestamp".into(), at.to_string())]
        }
        "generic-v1" => one("X-Webhook-Signature", hex),
        "bearer" => one("Authorization", format!("Bearer {secret}")),
        _ => panic!("{source} is no scheme of auto"),
    }
}

/// In the order in which `auto` looks for them.
const SCHEMES: [&str; 9] =
    ["svix", "standard-webhooks", "linear", "github", "hermes", "gitlab", "generic-v2", "generic-v1", "bearer"];

/// A body that every scheme can sign: Linear's time stands inside.
fn body(note: &str) -> Vec<u8> {
    json!({"webhookTimestamp": now_s() * 1000, "note": note}).to_string().into_bytes()
}

fn post(bell: &Doorbell, route: &str, headers: &Headers, body: &[u8]) -> Answer {
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    bell.post(&format!("/webhooks/{route}"), &headers, body)
}

#[test]
fn each_scheme_is_known_by_its_header() {
    let bell = open_house(shell("cat")).start();
    for scheme in SCHEMES {
        let body = body(scheme);
        let answer = post(&bell, "r", &signed(scheme, SECRET, now_s(), &body), &body).expect(202);
        assert_eq!(bell.event(answer["event_id"].as_str().unwrap())["source"], scheme);
    }
    // Hexadecimal digits may be written either way.
    for scheme in ["linear", "github", "hermes", "generic-v2", "generic-v1"] {
        let body = body("upper case");
        let mut headers = signed(scheme, SECRET, now_s(), &body);
        let (prefix, digits) = headers[0].1.split_at(headers[0].1.find('=').map_or(0, |at| at + 1));
        headers[0].1 = format!("{prefix}{}", digits.to_uppercase());
        post(&bell, "r", &headers, &body).expect(202);
    }
    bell.wait_log("move it to generic-v2");
    assert_eq!(bell.log().matches("move it to generic-v2").count(), 1, "the weak scheme is warned of once a route");
}

#[test]
fn a_forger_is_told_nothing_but_no() {
    let bell = open_house(shell("cat")).start();
    let mut answers = vec![bell.post("/webhooks/r", &[], b"{}")];
    for scheme in SCHEMES {
        let body = body("forged");
        for secret in ["another-secret", ""] {
            answers.push(post(&bell, "r", &signed(scheme, secret, now_s(), &body), &body));
        }
        let right = signed(scheme, SECRET, now_s(), &body);
        if !matches!(scheme, "gitlab" | "bearer") {
            answers.push(post(&bell, "r", &right, &[&body[..], b" "].concat()));
        }
        let last = right[0].1.chars().last().unwrap();
        let mut touched = right.clone();
        // In base64 the last letter before the padding holds bits that are not part of the digest: not there.
        touched[0].1 = right[0].1.replacen(|c: char| c.is_ascii_alphanumeric() && c != last, "~", 1);
        answers.push(post(&bell, "r", &touched, &body));
    }
    for wrong in
        ["", "sha256=", "sha256=abc", "sha1=da39a3ee5e6b4b0d3255bfef95601890afd80709", &format!("sha256={:065}", 0)]
    {
        answers.push(post(&bell, "r", &one("X-Hub-Signature-256", wrong), b"{}"));
    }
    for answer in &answers {
        assert_eq!(answer.expect(401), json!({"error": "Invalid signature"}));
        assert_eq!(answer.body, answers[0].body);
    }
    bell.ring("r").accepted();
    assert_eq!(bell.list("/events").len(), 1, "nothing was stored of the others");
}

#[test]
fn a_wrong_strong_signature_is_not_healed_by_a_right_weak_one() {
    let bell = open_house(shell("cat")).start();
    for (place, strong) in SCHEMES.iter().enumerate() {
        for weak in &SCHEMES[place + 1..] {
            let body = body("both");
            let mut headers = signed(strong, "wrong", now_s(), &body);
            headers.extend(signed(weak, SECRET, now_s(), &body));
            assert_eq!(post(&bell, "r", &headers, &body).status, 401, "{strong} was wrong, {weak} was right");
        }
    }
}

#[test]
fn a_named_source_believes_its_own_scheme_only() {
    let bell = open_house(shell("cat"))
        .route("hub", json!({"source": "github"}))
        .route("lab", json!({"source": "gitlab"}))
        .start();
    for (route, own) in [("hub", "github"), ("lab", "gitlab")] {
        for scheme in SCHEMES {
            let body = body(scheme);
            let answer = post(&bell, route, &signed(scheme, SECRET, now_s(), &body), &body);
            assert_eq!(answer.status, if scheme == own { 202 } else { 401 }, "{scheme} at {route}");
        }
    }
}

#[test]
fn old_and_new_secret_ring_while_they_are_exchanged() {
    let bell = open_house(shell("cat"))
        .route("rotating", json!({"secrets": ["new-secret-not-real", "old-secret-not-real"]}))
        .route("own", json!({"secret": "own-secret-not-real"}))
        .start();
    let table = [
        ("rotating", "new-secret-not-real", 202),
        ("rotating", "old-secret-not-real", 202),
        ("rotating", SECRET, 401),
        ("own", "own-secret-not-real", 202),
        ("own", SECRET, 401),
        ("r", SECRET, 202),
    ];
    for (route, secret, status) in table {
        assert_eq!(bell.ring(route).secret(secret).post().status, status, "{secret} at {route}");
    }
}

#[test]
fn a_signed_time_is_believed_for_five_minutes_or_as_the_route_says() {
    let bell = open_house(shell("cat"))
        .route("tight", json!({"tolerance": "10s"}))
        .route("loose", json!({"tolerance": "1h"}))
        .start();
    let table = [
        ("r", -280, 202),
        ("r", 280, 202),
        ("r", -330, 401),
        ("r", 330, 401),
        ("tight", 0, 202),
        ("tight", -40, 401),
        ("loose", -3500, 202),
        ("loose", 3500, 202),
        ("loose", -3700, 401),
    ];
    for scheme in ["svix", "standard-webhooks", "generic-v2"] {
        for (route, offset, status) in table {
            let answer = post(&bell, route, &signed(scheme, SECRET, now_s() + offset, b"{}"), b"{}");
            assert_eq!(answer.status, status, "{scheme} {offset} s off at {route}");
        }
    }
    for odd in ["NaN", "-1", "99999999999999999999", "", "1e9", " 1790000000 x"] {
        let signature = hex_hmac(SECRET, format!("{odd}.{{}}").as_bytes());
        let headers = [("X-Webhook-Timestamp", odd), ("X-Webhook-Signature-V2", signature.as_str())];
        assert_eq!(bell.post("/webhooks/r", &headers, b"{}").status, 401, "{odd:?}");
    }
}

#[test]
fn a_door_without_a_lock_opens_for_this_machine_only() {
    let bell = open_house(shell("cat"))
        .route("insecure", json!({"secret": "INSECURE_NO_AUTH"}))
        .route("none", json!({"source": "none"}))
        .start();
    for route in ["insecure", "none"] {
        let path = format!("/webhooks/{route}");
        bell.post(&path, &[], b"{}").expect(202);
        for proxy in ["Forwarded", "X-Forwarded-For", "X-Real-IP", "CF-Connecting-IP", "x-forwarded-for"] {
            let answer = bell.post(&path, &[(proxy, "203.0.113.9")], b"{}");
            assert_eq!(answer.expect(401), json!({"error": "Invalid signature"}), "{proxy}");
        }
    }
}

#[test]
fn senders_without_a_row_of_their_own_are_described_by_options() {
    let hmac = json!({
        "source": "hmac",
        "options": {
            "header": "X-Acme-Signature", "prefix": "v0=", "signed": "v0:{timestamp}:{body}",
            "timestamp_header": "X-Acme-Time", "id_header": "X-Acme-Id", "event_header": "X-Acme-Event",
        },
    });
    let bell = open_house(shell("cat"))
        .route("hmac", hmac)
        .route("token", json!({"source": "token", "options": {"header": "X-Acme-Key"}}))
        .route("basic", json!({"source": "basic", "secret": "acme:pass-not-real"}))
        .start();

    let sign = |at: i64| format!("v0={}", hex_hmac(SECRET, format!("v0:{at}:{{}}").as_bytes()));
    let acme = |at: i64, signature: &str| {
        let at = at.to_string();
        let headers = [
            ("X-Acme-Signature", signature),
            ("X-Acme-Time", &at),
            ("X-Acme-Id", "a-1"),
            ("X-Acme-Event", "door.rung"),
        ];
        bell.post("/webhooks/hmac", &headers, b"{}")
    };
    let accepted = acme(now_s(), &sign(now_s())).expect(202);
    assert_eq!((&accepted["delivery_id"], &accepted["event"]), (&json!("a-1"), &json!("door.rung")));
    assert_eq!(acme(now_s(), &sign(now_s() - 900)).status, 401, "another time than the one that was signed");
    assert_eq!(acme(now_s() - 900, &sign(now_s() - 900)).status, 401, "too old");

    assert_eq!(bell.post("/webhooks/token", &[("x-acme-key", SECRET)], b"{}").status, 202);
    assert_eq!(bell.post("/webhooks/token", &[("x-acme-key", "wrong")], b"{}").status, 401);
    let basic = |credentials: &str| bell.post("/webhooks/basic", &[("Authorization", credentials)], b"{}").status;
    assert_eq!(basic("Basic YWNtZTpwYXNzLW5vdC1yZWFs"), 202, "acme:pass-not-real");
    assert_eq!(basic("Basic YWNtZTp3cm9uZw=="), 401, "acme:wrong");
}

#[test]
fn nothing_is_kept_of_a_request_before_it_is_believed() {
    let agent = Agent::new();
    let bell = open_house(agent.options()).start();
    assert_eq!(bell.ring("r").id("guessed").secret("wrong").post().status, 401);
    assert_eq!(bell.list("/events"), Vec::<Value>::new());
    let event = bell.ring("r").id("guessed").accepted();
    bell.wait_event(&event, "succeeded");
    assert_eq!(agent.runs().len(), 1, "whoever guesses an id cannot use it up");
}

#[test]
fn secrets_are_masked_wherever_they_could_be_read() {
    let agent = Agent::new();
    let prompt =
        "{headers.authorization} {headers.cookie} {headers.x-gitlab-token} {headers.x-acme-key} {headers.x-plain}";
    let bell = open_house(agent.options())
        .route("auto", json!({"prompt": prompt}))
        .route("token", json!({"prompt": prompt, "source": "token", "options": {"header": "X-Acme-Key"}}))
        .start();
    let bearer = format!("Bearer {SECRET}");
    let extra = [("Cookie", "session=secret-cookie"), ("X-Plain", "seen")];
    let requests = [
        ("auto", ("Authorization", bearer.as_str())),
        ("auto", ("X-Gitlab-Token", SECRET)),
        ("token", ("X-Acme-Key", SECRET)),
    ];
    for (route, secret) in requests {
        let answer = bell.post(&format!("/webhooks/{route}"), &[secret, extra[0], extra[1]], b"{}").expect(202);
        bell.wait_event(answer["event_id"].as_str().unwrap(), "succeeded");
    }
    let masked = [
        "*** *** {headers.x-gitlab-token} {headers.x-acme-key} seen",
        "{headers.authorization} *** *** {headers.x-acme-key} seen",
        "{headers.authorization} *** {headers.x-gitlab-token} *** seen",
    ];
    assert_eq!(agent.prompts(), masked);

    // Wrong ones are not logged either: they are often the right one with a typing error.
    let typo = format!("{SECRET}x");
    assert_eq!(bell.post("/webhooks/auto", &[("X-Gitlab-Token", &typo)], b"{}").status, 401);
    assert!(!bell.log().contains(SECRET) && !bell.log().contains("secret-cookie"), "{}", bell.log());
    let files = std::fs::read_dir(bell.home().path()).unwrap().map(|file| file.unwrap().path());
    for file in files.filter(|file| file.is_file() && !file.ends_with("config.yaml")) {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        assert!(!text.contains(SECRET) && !text.contains("secret-cookie"), "{} holds a secret", file.display());
    }
}

#[test]
fn a_secret_of_standard_webhooks_is_base64_behind_its_mark() {
    let secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    let bell = open_house(shell("cat")).route("std", json!({"secret": secret})).start();
    for family in ["svix", "webhook"] {
        let right = standard_headers(family, secret, "msg_1", now_s(), b"{}");
        let mut several = right.clone();
        several[2].1 = format!("v1,AAAA v1a,Zm9v {} v9,xx", right[2].1);
        assert_eq!(
            post(&bell, "std", &several, b"{}").status,
            if family == "svix" { 202 } else { 200 },
            "same id: a duplicate"
        );
        let literal = standard_headers(family, &secret["whsec_".len()..], "msg_2", now_s(), b"{}");
        assert_eq!(post(&bell, "std", &literal, b"{}").status, 401, "the text itself is not the key");
    }
}

#[test]
fn a_page_in_a_browser_cannot_ring_an_open_route() {
    let agent = Agent::new();
    let bell = Home::with(&agent).route("open", json!({"source": "none", "prompt": "x"})).start();
    for header in [("Origin", "https://evil.example"), ("Origin", "null"), ("Sec-Fetch-Site", "cross-site")] {
        bell.post("/webhooks/open", &[header], b"{}").expect(401);
    }
    bell.post("/webhooks/open", &[("Sec-Fetch-Site", "none")], b"{}").expect(202);
}
