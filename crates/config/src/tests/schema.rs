use serde_json::Value;

use crate::schema;

/// Every object of a schema with `properties`, named by its way.
fn objects(schema: &Value, way: &str, out: &mut Vec<(String, Value)>) {
    match schema {
        Value::Object(fields) => {
            if fields.contains_key("properties") {
                out.push((way.to_owned(), schema.clone()));
            }
            for (key, below) in fields {
                objects(below, &format!("{way}/{key}"), out);
            }
        }
        Value::Array(all) => all.iter().enumerate().for_each(|(n, below)| objects(below, &format!("{way}/{n}"), out)),
        _ => {}
    }
}

#[test]
fn the_schema_knows_every_key() {
    let schema = schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let top: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(top, ["server", "admin", "store", "default_agent", "agents", "routes", "targets", "hooks"]);
    let route: Vec<&String> = schema["$defs"]["Route"]["properties"].as_object().unwrap().keys().collect();
    assert_eq!(
        route,
        [
            "source",
            "secret",
            "secrets",
            "events",
            "filters",
            "prompt",
            "agent",
            "deliver",
            "deliver_extra",
            "profile",
            "enabled",
            "tolerance",
            "dedupe_window",
            "dedupe_key",
            "serial_by",
            "max_concurrent",
            "max_retries",
            "retry_backoff",
            "rate_limit",
            "max_body_bytes",
            "timeout",
            "priority",
            "options",
            "description",
            "accept_from_agents"
        ]
    );
    assert_eq!(schema["$defs"]["Route"]["properties"]["dedupe_window"]["default"], "1h");
    assert_eq!(schema["$defs"]["Server"]["properties"]["port"]["default"], 8644);
}

#[test]
fn every_object_is_closed_and_every_key_described() {
    let mut all = Vec::new();
    objects(&schema(), "", &mut all);
    assert!(all.len() > 8, "{}", all.len());
    for (way, object) in all {
        let is_the_map_of_targets = way == "/properties/targets";
        assert!(is_the_map_of_targets || object["additionalProperties"] == Value::Bool(false), "{way}");
        for (key, below) in object["properties"].as_object().unwrap() {
            let is_described = below["description"].as_str().is_some_and(|text| text.len() > 8);
            assert!(is_the_map_of_targets || is_described, "{way}/{key}: {below}");
        }
    }
}

#[test]
fn it_is_the_same_each_time() {
    assert_eq!(schema().to_string(), schema().to_string());
}
