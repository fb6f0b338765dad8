use serde_json::json;

use super::*;

#[tokio::test]
async fn status_counts_everything_and_names_every_state() {
    let scene = Scene::open().await;
    scene.put("ev_1", "r", b"{}").await;
    scene.begin("r", "run_1").await;
    scene.put("ev_2", "r", b"{}").await;
    scene.post("/api/v1/routes/s/pause").await;
    let answer = scene.get("/api/v1/status").await;
    assert_eq!((answer.status, answer.header(header::CONTENT_TYPE)), (StatusCode::OK, "application/json"));
    let status = answer.json();
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
    assert!(!status["node"].as_str().unwrap().is_empty() && status["uptime_s"].is_u64());
    assert_eq!(status["events"].as_object().unwrap().len(), EventState::ALL.len());
    assert_eq!((&status["events"]["running"], &status["events"]["queued"]), (&json!(1), &json!(1)));
    assert_eq!(status["events"]["exhausted"], json!(0));
    assert_eq!((&status["runs"], &status["hooks"]), (&json!({"running": 1}), &json!({})));
    assert_eq!(status["deliveries"]["unknown"], json!(0));
    let routes = json!([
        {"name": "off", "state": "disabled", "reason": "enabled: false"},
        {"name": "r", "state": "active", "reason": null},
        {"name": "s", "state": "paused", "reason": "by_hand"},
    ]);
    assert_eq!(status["routes"], routes);
}

#[tokio::test]
async fn routes_tell_where_they_are() {
    let routes = Scene::open().await.get("/api/v1/routes").await.json();
    assert_eq!(routes["next"], Value::Null);
    let r = json!({
        "name": "r", "state": "active", "reason": null, "path": "/webhooks/r", "url": "https://hooks.example.com/webhooks/r",
        "source": "auto", "agent": "default", "deliver": ["log"], "description": "<script>alert(1)</script>",
    });
    assert_eq!(routes["items"][1], r);
    assert_eq!(routes["items"][2]["path"], "/p/ops/webhooks/s");
    assert_eq!(routes["items"][2]["source"], "github");
}

#[tokio::test]
async fn events_page_by_cursor_and_filter() {
    let scene = Scene::open().await;
    for n in 0..5 {
        scene.put(&format!("ev_{n}"), if n == 3 { "s" } else { "r" }, b"{}").await;
    }
    let ids = async |query: &str| {
        let page = scene.get(&format!("/api/v1/events{query}")).await.json();
        let ids = page["items"].as_array().unwrap().iter().map(|event| event["id"].as_str().unwrap().to_owned());
        (ids.collect::<Vec<_>>(), page["next"].as_str().map(str::to_owned))
    };
    let (mut seen, next) = ids("?limit=3").await;
    let (rest, end) = ids(&format!("?limit=3&cursor={}", next.unwrap())).await;
    seen.extend(rest);
    assert_eq!(seen, ["ev_4", "ev_3", "ev_2", "ev_1", "ev_0"]);
    assert_eq!(end, None);
    assert_eq!(ids("?route=s").await.0, ["ev_3"]);
    assert_eq!(ids("?delivery_id=d-ev_2").await.0, ["ev_2"]);
    assert_eq!(ids("?state=queued&route=r").await.0.len(), 4);
    assert_eq!(ids("?state=exhausted").await.0.len(), 0);
    assert_eq!((ids("?since=1m").await.0.len(), ids("?since=2m").await.0.len()), (0, 5));
    assert_eq!(
        (ids("?since=2099-01-01T00:00:00Z").await.0.len(), ids("?since=2020-01-01T00:00:00Z").await.0.len()),
        (0, 5)
    );
}

#[tokio::test]
async fn an_event_its_run_and_its_delivery_are_shown() {
    let scene = Scene::open().await;
    scene.put("ev_1", "r", b"{}").await;
    scene.begin("r", "run_1").await;
    scene.end("run_1", EventState::Succeeded).await;
    let event = scene.get("/api/v1/events/ev_1").await.json();
    assert_eq!((&event["runs"], &event["deliveries"]), (&json!(["run_1"]), &json!(["dlv_run_1"])));
    assert_eq!(event["received_at"], "2026-09-21T14:11:50.000Z");
    let run = scene.get("/api/v1/runs/run_1").await.json();
    assert_eq!(
        (&run["answer"], &run["state"], &run["agent"]),
        (&json!("done"), &json!("succeeded"), &json!("default"))
    );
    let delivery = scene.get("/api/v1/deliveries/dlv_run_1").await.json();
    assert_eq!((&delivery["content"], &delivery["state"]), (&json!("done"), &json!("exhausted")));
    for listing in
        ["runs?event_id=ev_1", "runs?route=r&state=succeeded", "deliveries?event_id=ev_1&state=exhausted", "deliveries"]
    {
        let page = scene.get(&format!("/api/v1/{listing}")).await.json();
        assert_eq!((page["items"].as_array().unwrap().len(), &page["next"]), (1, &Value::Null), "{listing}");
    }
    for listing in ["runs?route=s", "runs?state=running", "deliveries?event_id=ev_0", "deliveries?state=pending"] {
        let page = scene.get(&format!("/api/v1/{listing}")).await.json();
        assert_eq!(page["items"], json!([]), "{listing}");
    }
}

#[tokio::test]
async fn a_body_comes_back_byte_for_byte_and_is_no_page() {
    let scene = Scene::open().await;
    let raw = b"{ \"x\" :\t\"<script>alert(1)</script>\",\r\n \"n\": 1.50 } \xff";
    scene.put("ev_1", "r", raw).await;
    let answer = scene.get("/api/v1/events/ev_1/body").await;
    assert_eq!((answer.status, answer.body.as_slice()), (StatusCode::OK, raw.as_slice()));
    assert_eq!(answer.header(header::CONTENT_TYPE), "application/octet-stream");
    assert_eq!(answer.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
    assert_eq!(answer.header(header::CONTENT_DISPOSITION), "attachment");
}

#[tokio::test]
async fn what_is_not_there_is_404() {
    let scene = Scene::open().await;
    for path in ["events/ev_0", "events/ev_0/body", "runs/run_0", "deliveries/dlv_0"] {
        assert_eq!(scene.get(&format!("/api/v1/{path}")).await.problem(404), "not-found", "{path}");
    }
    for path in ["/api/v1/no-such-thing", "/api/v1", "/api/v1/events/ev_0/nope", "/nope", "/api/v2/status"] {
        assert_eq!(scene.get(path).await.problem(404), "unknown-path", "{path}");
    }
    assert_eq!(scene.get("/api/v1/events/%FF").await.problem(404), "not-found");
    let foreign = scene.get("/api/v1/events/evt_1").await.json();
    assert!(foreign["detail"].as_str().unwrap().contains("Hookdeck"), "{foreign}");
}

#[tokio::test]
async fn wrong_queries_are_400() {
    let scene = Scene::open().await;
    let wrong = [
        "limit=abc",
        "limit=0",
        "limit=1001",
        "cursor=%00junk",
        "state=nonsense",
        "since=yesterday-ish",
        "rout=r",
        "route=",
    ];
    for query in wrong {
        assert_eq!(scene.get(&format!("/api/v1/events?{query}")).await.problem(400), "bad-query", "{query}");
    }
    for path in
        ["runs?delivery_id=x", "runs?state=queued", "deliveries?route=r", "deliveries?state=held", "runs?cursor=1"]
    {
        assert_eq!(scene.get(&format!("/api/v1/{path}")).await.problem(400), "bad-query", "{path}");
    }
}

#[tokio::test]
async fn wrong_methods_are_405_and_say_which_are_right() {
    let scene = Scene::open().await;
    for (method, path, allowed) in [
        ("POST", "/api/v1/status", "GET,HEAD"),
        ("GET", "/api/v1/events/ev_1/retry", "POST"),
        ("DELETE", "/api/v1/events/ev_1", "GET,HEAD"),
        ("PUT", "/metrics", "GET,HEAD"),
    ] {
        let answer = scene.call(method, path, &[], Body::empty()).await;
        assert_eq!(answer.problem(405), "method-not-allowed");
        assert_eq!(answer.header(header::ALLOW), allowed, "{path}");
    }
}

#[tokio::test]
async fn a_closed_ledger_is_503() {
    let scene = Scene::open().await;
    scene.core.ledger.close().await;
    for path in ["status", "routes", "events", "events/ev_1", "runs", "deliveries"] {
        let answer = scene.get(&format!("/api/v1/{path}")).await;
        assert_eq!(answer.problem(503), "ledger-unavailable", "{path}");
        assert_eq!(answer.header(header::RETRY_AFTER), "5");
    }
    let page = scene.get("/").await;
    assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(page.text().contains("The ledger cannot be used"));
    let metrics = scene.get("/metrics").await;
    assert!(metrics.status.is_success() && !metrics.text().contains("doorbell_events"), "{}", metrics.text());
}

#[tokio::test]
async fn metrics_have_the_names_of_the_contract() {
    let scene = Scene::open().await;
    scene.put("ev_1", "r", b"{}").await;
    let signals = &scene.core.signals;
    signals.request("r", "accepted", 202, std::time::Duration::from_millis(3));
    signals.delivery("log", "delivered", "dlv_1", None);
    signals.run_ended(&gateway::signals::RunEnded {
        route: "r",
        agent: "default",
        run_id: "run_1",
        outcome: "succeeded",
        took: std::time::Duration::from_secs(1),
        event_state: "succeeded",
        error: None,
    });
    let answer = scene.get("/metrics").await;
    assert_eq!(answer.header(header::CONTENT_TYPE), "application/openmetrics-text; version=1.0.0; charset=utf-8");
    let text = answer.text();
    for line in [
        "doorbell_requests_total{route=\"r\",outcome=\"accepted\"} 1",
        "doorbell_runs_total{route=\"r\",agent=\"default\",outcome=\"succeeded\"} 1",
        "doorbell_deliveries_total{target=\"log\",outcome=\"delivered\"} 1",
        "doorbell_ack_seconds_count 1",
        "doorbell_run_seconds_count 1",
        "# TYPE doorbell_events gauge",
        "doorbell_events{state=\"queued\"} 1",
        "doorbell_events{state=\"exhausted\"} 0",
        "doorbell_queue_age_seconds 90.000",
        "doorbell_deliveries_waiting 0",
    ] {
        assert!(text.lines().any(|have| have == line), "{line} is not in\n{text}");
    }
    assert!(text.ends_with("\n# EOF\n") && text.matches("# EOF").count() == 1, "{text}");
}
