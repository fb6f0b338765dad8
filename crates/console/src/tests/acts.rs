use std::time::Duration;

use serde_json::json;

use super::*;

/// Whether a bell was rung since it was last heard.
async fn rung(bell: &tokio::sync::Notify) -> bool {
    tokio::time::timeout(Duration::from_millis(20), bell.notified()).await.is_ok()
}

async fn state(scene: &Scene, event: &str) -> Value {
    scene.get(&format!("/api/v1/events/{event}")).await.json()["state"].clone()
}

#[tokio::test]
async fn a_route_is_paused_and_resumed() {
    let scene = Scene::open().await;
    scene.put("ev_1", "r", b"{}").await;
    for _ in 0..2 {
        let answer = scene.post("/api/v1/routes/r/pause").await;
        assert_eq!(
            (answer.status, answer.json()),
            (StatusCode::OK, json!({"name": "r", "state": "paused", "reason": "by_hand"}))
        );
    }
    assert_eq!(state(&scene, "ev_1").await, "held");
    assert!(!rung(&scene.core.runs_bell).await);
    let answer = scene.post("/api/v1/routes/r/resume").await;
    assert_eq!(
        (answer.status, answer.json()),
        (StatusCode::OK, json!({"name": "r", "state": "active", "reason": null}))
    );
    assert_eq!(state(&scene, "ev_1").await, "queued");
    assert!(rung(&scene.core.runs_bell).await);
    for act in ["pause", "resume"] {
        assert_eq!(scene.post(&format!("/api/v1/routes/nope/{act}")).await.problem(404), "not-found");
    }
}

#[tokio::test]
async fn an_event_that_failed_is_retried() {
    let scene = Scene::open().await;
    scene.put("ev_1", "r", b"{}").await;
    assert_eq!(scene.post("/api/v1/events/ev_1/retry").await.problem(409), "conflict", "it is queued");
    scene.begin("r", "run_1").await;
    scene.end("run_1", EventState::Exhausted).await;
    let answer = scene.post("/api/v1/events/ev_1/retry").await;
    assert_eq!((answer.status, answer.json()), (StatusCode::ACCEPTED, json!({"status": "retried", "id": "ev_1"})));
    assert_eq!(state(&scene, "ev_1").await, "queued");
    assert!(rung(&scene.core.runs_bell).await);
    assert_eq!(scene.post("/api/v1/events/ev_0/retry").await.problem(404), "not-found");
}

#[tokio::test]
async fn an_event_that_waits_is_cancelled() {
    let scene = Scene::open().await;
    scene.put("ev_1", "r", b"{}").await;
    let answer = scene.post("/api/v1/events/ev_1/cancel").await;
    assert_eq!((answer.status, answer.json()), (StatusCode::OK, json!({"status": "cancelled", "id": "ev_1"})));
    let event = scene.get("/api/v1/events/ev_1").await.json();
    assert_eq!((&event["state"], &event["reason"]), (&json!("cancelled"), &json!("by_hand")));
    assert!(rung(&scene.core.runs_bell).await, "what waited behind it may run");
    assert_eq!(scene.post("/api/v1/events/ev_1/cancel").await.problem(409), "conflict");
    assert_eq!(scene.post("/api/v1/events/ev_0/cancel").await.problem(404), "not-found");
}

#[tokio::test]
async fn an_event_is_replayed_as_a_new_one() {
    let scene = Scene::open().await;
    scene.put("ev_1", "r", b"{ \"n\": 1.50 }").await;
    let answer = scene.post("/api/v1/events/ev_1/replay").await;
    let body = answer.json();
    assert_eq!(
        (answer.status, &body["status"], &body["delivery_id"]),
        (StatusCode::ACCEPTED, &json!("accepted"), &json!("d-ev_1"))
    );
    let id = body["event_id"].as_str().unwrap();
    assert_ne!(id, "ev_1");
    assert_eq!(scene.get(&format!("/api/v1/events/{id}/body")).await.body, b"{ \"n\": 1.50 }");
    assert_eq!(scene.post("/api/v1/events/ev_0/replay").await.problem(404), "not-found");
    scene.put("ev_2", "gone", b"{}").await;
    assert_eq!(scene.post("/api/v1/events/ev_2/replay").await.problem(409), "conflict");
}

#[tokio::test]
async fn only_a_run_in_flight_is_stopped() {
    let scene = Scene::open().await;
    scene.put("ev_1", "r", b"{}").await;
    scene.begin("r", "run_1").await;
    let not_here = scene.post("/api/v1/runs/run_1/stop").await;
    assert_eq!(not_here.problem(409), "conflict");
    assert!(not_here.text().contains("not in flight"));
    scene.end("run_1", EventState::Succeeded).await;
    let over = scene.post("/api/v1/runs/run_1/stop").await;
    assert_eq!(over.problem(409), "conflict");
    assert!(over.text().contains("already ended: succeeded"));
    assert_eq!(scene.post("/api/v1/runs/run_0/stop").await.problem(404), "not-found");
}

#[tokio::test]
async fn a_delivery_that_was_given_up_is_sent_again() {
    let scene = Scene::open().await;
    scene.put("ev_1", "r", b"{}").await;
    scene.begin("r", "run_1").await;
    scene.end("run_1", EventState::Succeeded).await;
    let answer = scene.post("/api/v1/deliveries/dlv_run_1/retry").await;
    assert_eq!((answer.status, answer.json()), (StatusCode::ACCEPTED, json!({"status": "retried", "id": "dlv_run_1"})));
    assert_eq!(scene.get("/api/v1/deliveries/dlv_run_1").await.json()["state"], "pending");
    assert!(rung(&scene.core.deliveries_bell).await);
    assert_eq!(scene.post("/api/v1/deliveries/dlv_run_1/retry").await.problem(409), "conflict");
    assert_eq!(scene.post("/api/v1/deliveries/dlv_0/retry").await.problem(404), "not-found");
}

#[tokio::test]
async fn a_reload_takes_all_or_nothing() {
    let scene = Scene::open().await;
    let file = scene.home.path().join("config.yaml");
    std::fs::write(&file, format!("{CONFIG}  new: {{prompt: x}}\n")).unwrap();
    let answer = scene.post("/api/v1/reload").await;
    assert_eq!((answer.status, &answer.json()["status"]), (StatusCode::OK, &json!("reloaded")), "{}", answer.text());
    assert!(scene.core.config().routes.contains_key("new"));
    std::fs::write(&file, format!("{CONFIG}  bad: {{promt: x}}\n  worse: {{agent: nobody}}\n")).unwrap();
    let answer = scene.post("/api/v1/reload").await;
    assert_eq!(answer.problem(422), "configuration");
    let body = answer.json();
    let detail = body["detail"].as_str().unwrap();
    assert!(detail.contains("promt") && detail.contains("nobody"), "{detail}");
    assert_eq!(body["problems"].as_array().unwrap().len(), detail.lines().count());
    assert!(scene.core.config().routes.contains_key("new"), "the running configuration stays");
}
