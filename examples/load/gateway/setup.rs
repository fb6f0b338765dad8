//! The one configuration that everything is measured with.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

pub(crate) const SECRET: &str = "a-secret-for-measuring";
/// Routes that have little to do while another one is busy.
pub(crate) const OTHER_ROUTES: usize = 10;

pub(crate) fn other_route(number: usize) -> String {
    format!("other-{}", number % OTHER_ROUTES)
}

/// What differs from measurement to measurement.
pub(crate) struct Setup {
    /// `store.retention`.
    pub(crate) retention: &'static str,
    /// `store.url`, where the ledger is not in the home.
    pub(crate) store_url: Option<String>,
    /// `dedupe_window` of every route, which no retention may be shorter than.
    pub(crate) dedupe_window: &'static str,
    /// Milliseconds that the agent of route `burst` works, and how many of it run at once.
    pub(crate) stub: (u64, u32),
}

impl Default for Setup {
    fn default() -> Self {
        Setup { retention: "30d", store_url: None, dedupe_window: "1h", stub: (50, 8) }
    }
}

impl Setup {
    /// Writes the configuration of a home. Its agents are this program:
    ///
    /// - `queue`, `line` (one serial line): one run that never ends, so that what comes waits;
    /// - `wake`, `other-N`: an agent that notes when it was started;
    /// - `burst`: an agent that works for a while;
    /// - `ignored`: takes no event type that the bench sends.
    pub(crate) fn write(&self, home: &Path) {
        std::fs::create_dir_all(stamps(home)).expect("a folder for stamps");
        let own = std::env::current_exe().expect("our own path");
        let (work, at_once) = self.stub;
        let agent = |words: Value, more: Value| {
            let mut agent = json!({"preset": "command", "command": words, "hint": false});
            if let (Some(all), Value::Object(more)) = (agent.as_object_mut(), more) {
                all.extend(more);
            }
            agent
        };
        let mut routes: Map<String, Value> = Map::new();
        routes.insert("queue".into(), json!({"agent": "busy"}));
        routes.insert("line".into(), json!({"agent": "busy", "serial_by": "{event_type}"}));
        routes.insert("wake".into(), json!({"agent": "stamp", "prompt": "{delivery_id}"}));
        routes.insert("burst".into(), json!({"agent": "stub", "prompt": "{delivery_id}"}));
        routes.insert("ignored".into(), json!({"agent": "stub", "events": ["release"]}));
        for number in 0..OTHER_ROUTES {
            routes.insert(other_route(number), json!({"agent": "stamp", "prompt": "{delivery_id}"}));
        }
        for route in routes.values_mut() {
            route["dedupe_window"] = self.dedupe_window.into();
        }
        let config = json!({
            "server": {"port": 0, "secret": SECRET, "max_connections": 2048, "shutdown_grace": "0s"},
            "admin": {"port": 0, "open": true},
            "store": {"retention": self.retention, "url": self.store_url},
            "agents": {
                "busy": agent(json!(["sleep", "36000"]), json!({"max_concurrent": 1, "timeout": "10h"})),
                "stamp": agent(json!([own, "stamp", stamps(home).join("{}")]), json!({})),
                "stub": agent(json!([own, "stub", work.to_string()]), json!({"max_concurrent": at_once})),
            },
            "routes": routes,
        });
        std::fs::write(home.join("config.yaml"), config.to_string()).expect("a configuration");
    }
}

/// Where agents note when they were started, a file for each delivery id.
pub(crate) fn stamps(home: &Path) -> PathBuf {
    home.join("stamps")
}
