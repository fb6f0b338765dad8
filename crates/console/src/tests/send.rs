use serde_json::json;

use super::*;

async fn send(scene: &Scene, order: &Value) -> Answer {
    scene.call("POST", "/api/v1/send", &[("content-type", "application/json")], order.to_string()).await
}

#[tokio::test]
async fn work_is_accepted_once() {
    let scene = Scene::open().await;
    let order = json!({"route": "r", "payload": {"n": 1.5}, "id": "one", "in_ms": 60_000, "hop": 2});
    let answer = send(&scene, &order).await;
    let body = answer.json();
    assert_eq!(
        (answer.status, &body["status"], &body["delivery_id"]),
        (StatusCode::ACCEPTED, &json!("accepted"), &json!("one"))
    );
    let id = body["event_id"].as_str().unwrap();
    let event = scene.get(&format!("/api/v1/events/{id}")).await.json();
    assert_eq!((&event["hop"], &event["delivery_id"], event["due_at"].is_string()), (&json!(2), &json!("one"), true));
    assert_eq!(scene.get(&format!("/api/v1/events/{id}/body")).await.body, br#"{"n":1.5}"#);
    let again = send(&scene, &order).await;
    assert_eq!((again.status, &again.json()["status"]), (StatusCode::OK, &json!("duplicate")));
    assert_eq!(again.json()["event_id"], id);
}

#[tokio::test]
async fn a_payload_is_any_json() {
    let scene = Scene::open().await;
    let base64 = "eyAibiIgOiAxLjUwIH0=";
    let orders = [
        (json!({"route": "r", "payload": null}), "null"),
        (json!({"route": "r", "payload": [1, "<é>"]}), "[1,\"<é>\"]"),
        (json!({"route": "r", "payload": "text"}), "\"text\""),
        (json!({"route": "r", "payload_base64": base64}), "{ \"n\" : 1.50 }"),
    ];
    for (order, stored) in orders {
        let body = send(&scene, &order).await.json();
        let id = body["event_id"].as_str().unwrap_or_else(|| panic!("{order}: {body}"));
        assert_eq!(scene.get(&format!("/api/v1/events/{id}/body")).await.text(), stored, "{order}");
    }
    assert_eq!(send(&scene, &json!({"route": "r"})).await.status, StatusCode::ACCEPTED, "no payload is an empty one");
    let number = r#"{"route": "r", "payload": {"n": 12345678901234567890.10}}"#;
    let body = scene.call("POST", "/api/v1/send", &[], number).await.json();
    let id = body["event_id"].as_str().unwrap();
    assert_eq!(scene.get(&format!("/api/v1/events/{id}/body")).await.text(), r#"{"n":12345678901234567890.10}"#);
}

#[tokio::test]
async fn wrong_orders_are_refused() {
    let scene = Scene::open().await;
    let wrong = [
        json!({"route": "r", "payload": 1, "payload_base64": "MQ=="}),
        json!({"route": "r", "payload_base64": "not base64!"}),
        json!({"route": "r", "paylod": 1}),
        json!({"route": "r", "id": ""}),
        json!({"route": "r", "in_ms": -1}),
        json!({"route": "r", "in_ms": u64::MAX}),
        json!({"route": "r", "hop": 1.5}),
        json!({"payload": 1}),
        json!("r"),
    ];
    for order in wrong {
        assert_eq!(send(&scene, &order).await.problem(400), "bad-body", "{order}");
    }
    assert_eq!(scene.call("POST", "/api/v1/send", &[], "{not json").await.problem(400), "bad-body");
    assert_eq!(send(&scene, &json!({"route": "nope"})).await.problem(404), "not-found");
    assert_eq!(send(&scene, &json!({"route": "off"})).await.problem(409), "conflict");
    let unreadable = json!({"route": "r", "payload_base64": "e25vdCBqc29u"});
    assert_eq!(send(&scene, &unreadable).await.problem(422), "unreadable-payload");
}

#[tokio::test]
async fn rules_of_the_route_hold() {
    let scene = Scene::open().await;
    assert_eq!(send(&scene, &json!({"route": "s", "from_run": true})).await.problem(403), "not-from-runs");
    assert_eq!(send(&scene, &json!({"route": "r", "from_run": true, "hop": 1})).await.status, StatusCode::ACCEPTED);
    let far = send(&scene, &json!({"route": "r", "hop": 99})).await;
    assert_eq!(
        (far.status, &far.json()["status"], &far.json()["reason"]),
        (StatusCode::OK, &json!("ignored"), &json!("hop_limit"))
    );
    let large = send(&scene, &json!({"route": "s", "payload": "x".repeat(99)})).await;
    assert_eq!(large.problem(413), "payload-too-large");
    assert!(large.text().contains("101 bytes; route s takes 100"), "{}", large.text());
    assert_eq!(send(&scene, &json!({"route": "s", "payload": "x".repeat(98)})).await.status, StatusCode::ACCEPTED);
    let limited = send(&scene, &json!({"route": "s"})).await;
    assert_eq!(limited.problem(429), "rate-limited");
    let wait: u64 = limited.header(header::RETRY_AFTER).parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
}

#[tokio::test]
async fn a_body_beyond_every_route_is_refused() {
    let scene = Scene::open().await;
    let huge = format!("{{\"route\": \"r\", \"payload\": \"{}\"}}", "x".repeat(2 << 20));
    assert_eq!(scene.call("POST", "/api/v1/send", &[], huge).await.problem(413), "payload-too-large");
}
