//! What is written under `agents.<name>`. The doc comments of the fields are the reference page and the JSON Schema.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Deserialize;
use span::{Size, Span};

use crate::scalar;

/// How the agent gets its prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PromptVia {
    /// On stdin, which is then closed.
    #[default]
    Stdin,
    /// In a file that only the gateway's user may read (0600) and that is gone after the run. Its path stands in
    /// `DOORBELL_PROMPT_FILE` and takes the place of `{prompt_file}` in `command` and `args`; stdin is empty.
    File,
}

/// How the agent's stdout is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Output {
    /// All of stdout, trimmed, is the answer.
    Text,
    /// One JSON object with `answer`, and if wanted `session_id`, `cost_usd`, `usage` and `silent`. Other output, or
    /// an object without an answer that is not silent, is a failed run.
    Json,
}

/// What `max_concurrent` counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The runs of each gateway for itself.
    #[default]
    Node,
    /// The runs of all gateways that share the ledger: for a licence, a rate limit, a single machine behind the agent.
    Cluster,
}

/// One agent: how it is called and how much it may take.
#[derive(Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentOptions {
    /// Which way of calling an agent this is; `doorbell agents` lists them.
    pub preset: String,

    /// The program and its arguments, never given to a shell. With `prompt_via: file`, `{prompt_file}` stands for the
    /// path of the prompt's file. The prompt itself is never an argument.
    #[serde(default, deserialize_with = "scalar::list")]
    pub command: Vec<String>,

    /// Arguments added after `command`.
    #[serde(default, deserialize_with = "scalar::list")]
    pub args: Vec<String>,

    /// The folder in which the agent runs; a relative one is under Doorbell's home. Default: the folder in which the
    /// gateway was started.
    #[serde(default)]
    pub cwd: Option<String>,

    /// Environment variables added for the agent. They win over inherited ones, never over what Doorbell itself sets
    /// (`DOORBELL_RUN_ID` and the like, `TRACEPARENT`).
    #[serde(default, deserialize_with = "scalar::map")]
    pub env: BTreeMap<String, String>,

    /// Names of the gateway's environment variables that the agent gets; `*` at the end of a name stands for any rest.
    /// A list replaces the default: `PATH`, `HOME`, `USER`, `LANG`, `LC_*`, `TZ`, `TMPDIR`, `SSL_CERT_*`. All others
    /// are withheld.
    #[serde(default, deserialize_with = "scalar::optional_list")]
    pub inherit_env: Option<Vec<String>>,

    /// How long one run may take. There is no "no limit"; write a long one such as `7d`.
    #[serde(default = "default_timeout")]
    pub timeout: Span,

    /// How many runs of this agent may be in flight at a time.
    #[serde(default = "default_max_concurrent")]
    #[schemars(range(min = 1))]
    pub max_concurrent: u32,

    /// Whether `max_concurrent` is for each gateway or for all that share a ledger together.
    #[serde(default)]
    pub scope: Scope,

    /// How the agent gets its prompt.
    #[serde(default)]
    pub prompt_via: PromptVia,

    /// How stdout is read. Default: the preset's way.
    #[serde(default)]
    pub output: Option<Output>,

    /// How much of stdout is kept. Text beyond it is cut, marked, and still an answer; JSON that was cut is a failure.
    #[serde(default = "default_max_output")]
    pub max_output_bytes: Size,

    /// Whether a note is put before the prompt: that payloads are data from third parties and not instructions, and,
    /// when an event runs again, that an earlier attempt may already have acted.
    #[serde(default = "default_hint")]
    pub hint: bool,

    /// A command line put before `command`, such as a sandbox: `[docker, run, -i, --rm, --name, "{run_id}", image]`.
    /// `{run_id}` stands for the run's id and is its only placeholder. The wrapper starts the agent itself, so what it
    /// passes on is its own affair: docker, for one, gives a container only the variables named by its `-e`.
    #[serde(default, deserialize_with = "scalar::list")]
    pub wrap: Vec<String>,

    /// Names of further environment variables of the gateway that the wrapper gets, beside those of `inherit_env`;
    /// `*` at the end stands for any rest. It adds nothing to the wrapper's command line: to bring a variable into a
    /// docker container, name it here and in `wrap` as `-e, NAME`. Only with `wrap`.
    #[serde(default, deserialize_with = "scalar::list")]
    pub wrap_env: Vec<String>,

    /// A command run when a run is ended at its timeout, by a person, or found again after a crash, beside the signals
    /// to its processes: `[docker, rm, -f, "{run_id}"]`. `{run_id}` is its only placeholder.
    #[serde(default, deserialize_with = "scalar::optional_list")]
    pub stop_command: Option<Vec<String>>,
}

impl AgentOptions {
    /// Options in which everything but the preset and its command line has its default.
    pub fn of_command(command: Vec<String>) -> Self {
        Self {
            preset: "command".to_owned(),
            command,
            args: Vec::new(),
            cwd: None,
            env: BTreeMap::new(),
            inherit_env: None,
            timeout: default_timeout(),
            max_concurrent: default_max_concurrent(),
            scope: Scope::default(),
            prompt_via: PromptVia::default(),
            output: None,
            max_output_bytes: default_max_output(),
            hint: default_hint(),
            wrap: Vec::new(),
            wrap_env: Vec::new(),
            stop_command: None,
        }
    }
}

/// Values of `env` may be secrets, so only names are shown.
impl fmt::Debug for AgentOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentOptions")
            .field("preset", &self.preset)
            .field("command", &self.command)
            .field("args", &self.args)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

fn default_timeout() -> Span {
    Span::seconds(15 * 60)
}

fn default_max_concurrent() -> u32 {
    2
}

fn default_max_output() -> Size {
    Size(1024 * 1024)
}

fn default_hint() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn a_preset_and_a_command_are_enough() {
        let read: AgentOptions = from_value(json!({"preset": "command", "command": ["my-agent"]})).unwrap();
        assert_eq!(read, AgentOptions::of_command(vec!["my-agent".into()]));
        assert_eq!((read.timeout.to_string(), read.max_concurrent, read.hint), ("15m".to_owned(), 2, true));
    }

    #[test]
    fn numbers_and_truth_values_are_texts_where_texts_are_wanted() {
        let raw = r#"{"preset":"command","command":["sleep",1.50],"env":{"DEBUG":true,"N":12345678901234567890123}}"#;
        let read: AgentOptions = serde_json::from_str(raw).unwrap();
        assert_eq!(read.command, ["sleep", "1.50"]);
        assert_eq!(read.env["DEBUG"], "true");
        assert_eq!(read.env["N"], "12345678901234567890123");
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let refused = |more: serde_json::Value| {
            let mut raw = json!({"preset": "command", "command": ["a"]});
            raw.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            from_value::<AgentOptions>(raw).unwrap_err().to_string()
        };
        assert!(refused(json!({"time_out": 1})).contains("unknown field `time_out`"));
        assert!(refused(json!({"prompt_via": "argv"})).contains("expected `stdin` or `file`"));
        assert!(refused(json!({"output": "yaml"})).contains("expected `text` or `json`"));
        assert!(refused(json!({"timeout": "soon"})).contains("is not a duration"));
        assert!(refused(json!({"command": [["a"]]})).contains("found a list"));
        assert!(from_value::<AgentOptions>(json!({"command": ["a"]})).unwrap_err().to_string().contains("preset"));
    }

    #[test]
    fn every_key_is_described_in_the_schema() {
        let schema = schemars::schema_for!(AgentOptions).to_value();
        let keys = schema["properties"].as_object().unwrap();
        assert_eq!(keys.len(), 16);
        for (key, shape) in keys {
            assert!(shape["description"].as_str().is_some_and(|text| text.len() > 20), "{key}: {shape}");
        }
        assert_eq!(schema["additionalProperties"], json!(false));
        assert_eq!((&keys["timeout"]["default"], &keys["hint"]["default"]), (&json!("15m"), &json!(true)));
    }

    #[test]
    fn debug_shows_no_value_of_env() {
        let mut options = AgentOptions::of_command(vec!["a".into()]);
        options.env.insert("API_KEY".into(), "very-secret".into());
        let shown = format!("{options:?}");
        assert!(shown.contains("API_KEY") && !shown.contains("very-secret"), "{shown}");
    }
}
