//! The router as a caller sees it, over a real ledger in a temporary home.

mod access;
mod acts;
mod health;
mod listings;
mod pages;
mod send;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode, header};
use config::{Environment, Place};
use gateway::Core;
use gateway::clock::Clock;
use gateway::reload::Reloader;
use http_body_util::BodyExt as _;
use ledger::sqlite::{Durability, Options, Store};
use ledger::{
    Admission, AgentRoom, ClaimRuns, FinishRun, Ledger as _, NewDelivery, NewEvent, RouteRoom, RunRecord, StoredRequest,
};
use rules::run_end::{Next, Standing};
use rules::states::{DeliveryState, EventState, RunState};
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt as _;

use crate::{Access, Console};

const TOKEN: &str = "token-not-real-0000";
const HOST: &str = "127.0.0.1:8645";
const NOW: i64 = 1_790_000_000_000;

const CONFIG: &str = "
server: {secret: secret-not-real-0000, public_url: 'https://hooks.example.com'}
agents: {default: {preset: command, command: ['true']}}
routes:
  r: {prompt: x, description: '<script>alert(1)</script>', accept_from_agents: true}
  s: {prompt: y, source: github, profile: ops, rate_limit: 1, max_body_bytes: 100}
  off: {prompt: z, enabled: false}
";

/// A gateway without its workers.
struct Scene {
    core: Arc<Core>,
    router: Router,
    home: TempDir,
}

/// What came back.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    fn header(&self, name: impl axum::http::header::AsHeaderName) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The slug of a problem, after its shape was checked.
    #[track_caller]
    fn problem(&self, status: u16) -> String {
        let json = self.json();
        assert_eq!((self.status.as_u16(), json["status"].to_string()), (status, status.to_string()), "{json}");
        assert_eq!(self.header(header::CONTENT_TYPE), "application/problem+json");
        assert!(json["title"].is_string() && json["detail"].is_string() && json["type"].is_string(), "{json}");
        json["slug"].as_str().unwrap().to_owned()
    }
}

impl Scene {
    async fn open() -> Scene {
        Scene::new(Access::Open, "http://127.0.0.1:8645").await
    }

    async fn locked() -> Scene {
        Scene::new(Access::Token(TOKEN.to_owned()), "http://127.0.0.1:8645").await
    }

    async fn new(access: Access, url: &str) -> Scene {
        Scene::with_min_free(access, url, 0).await
    }

    async fn with_min_free(access: Access, url: &str, min_free: u64) -> Scene {
        let home = TempDir::new().unwrap();
        let store = Store::open(&Options {
            home: home.path().to_owned(),
            path: home.path().join("doorbell.db"),
            durability: Durability::Normal,
            min_free,
            patience: std::time::Duration::from_secs(10),
        });
        let store = store.unwrap();
        let boot = store.begin_boot("node", NOW).await.unwrap();
        let place = Place::of_home(home.path().to_owned());
        std::fs::write(&place.config_file, CONFIG).unwrap();
        let config = config::parse(CONFIG, &place, &Environment::new(BTreeMap::new())).unwrap();
        let core = Core::new(Arc::new(store), boot, place.home.clone(), Clock::of(|| NOW), config);
        let core = Arc::new(core);
        let reloader = Arc::new(Reloader::new(Arc::clone(&core), place, BTreeMap::new(), Vec::new()));
        let router = Console::new(Arc::clone(&core), reloader, access, url.to_owned()).router();
        Scene { core, router, home }
    }

    /// Calls the router; `Host` is added unless it is given.
    async fn call(&self, method: &str, path: &str, headers: &[(&str, &str)], body: impl Into<Body>) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request = request.header(header::HOST, HOST);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.router.clone().oneshot(request.body(body.into()).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    async fn get(&self, path: &str) -> Answer {
        self.call("GET", path, &[], Body::empty()).await
    }

    async fn post(&self, path: &str) -> Answer {
        self.call("POST", path, &[], Body::empty()).await
    }

    /// Puts an event into the ledger.
    async fn put(&self, id: &str, route: &str, body: &[u8]) {
        let event = NewEvent {
            id: id.into(),
            route: route.into(),
            source: "github".into(),
            event_type: "push".into(),
            delivery_id: format!("d-{id}"),
            line: None,
            priority: 0,
            hop: 0,
            due_at: None,
            received_at: NOW - 90_000,
            request: StoredRequest {
                headers: vec![("content-type".into(), "application/json".into())],
                body: body.to_vec(),
            },
        };
        self.core.ledger.admit(Admission { event, key: None, rate_per_minute: 0 }).await.unwrap();
    }

    /// Begins the run of the one event that waits on a route.
    async fn begin(&self, route: &str, run_id: &str) {
        let claim = ClaimRuns {
            boot: self.core.boot(),
            now: NOW,
            routes: vec![RouteRoom { route: route.into(), agent: "default".into(), room: 1 }],
            agents: vec![AgentRoom { agent: "default".into(), room: 1, cluster_limit: None }],
            run_ids: vec![run_id.into()],
        };
        assert_eq!(self.core.ledger.claim_runs(claim).await.unwrap().len(), 1);
    }

    /// Ends the first run of an event; a success has one delivery, which could not be made.
    async fn end(&self, run_id: &str, state: EventState) {
        let succeeded = state == EventState::Succeeded;
        let delivery = NewDelivery {
            id: format!("dlv_{run_id}"),
            target: "log".into(),
            state: DeliveryState::Exhausted,
            error: Some("no <room> left".into()),
            extra: serde_json::Map::new(),
            created_at: NOW,
        };
        let finish = FinishRun {
            run_id: run_id.into(),
            boot: self.core.boot(),
            attempt: 1,
            ended_at: NOW,
            state: if succeeded { RunState::Succeeded } else { RunState::Failed },
            record: RunRecord { answer: succeeded.then(|| "done".to_owned()), ..RunRecord::default() },
            next: Next { state, reason: None, due_at: None, standing: Standing::default() },
            deliveries: if succeeded { vec![delivery] } else { Vec::new() },
        };
        self.core.ledger.finish_run(finish).await.unwrap();
    }
}
