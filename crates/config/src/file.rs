//! From the files to a [`Config`].

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::Path as FilePath;
use std::sync::Arc;

use crate::environment::Environment;
use crate::listen::Tls;
use crate::path::Path;
use crate::place::Place;
use crate::problem::{Fault, Problem, Problems};
use crate::report::Report;
use crate::route::{self, Surroundings};
use crate::{Config, agent, raw, read, server, store, target, tree, variables};

/// Reads `.env` and the configuration file of `place`, with `env` as the environment of the process.
///
/// # Errors
/// Everything that is wrong, a missing file included: there is no configuration that works without being written.
pub fn load(place: &Place, env: &BTreeMap<String, String>) -> Result<Config, Problems> {
    let mut environment = Environment::new(env.clone());
    let dotenv = place.home.join(".env");
    let (mut problems, mut warnings) = match fs::read_to_string(&dotenv) {
        Ok(text) => environment.add_file(&text, ".env"),
        Err(error) if error.kind() == ErrorKind::NotFound => Default::default(),
        Err(error) => (vec![unreadable(&dotenv, &error)], Vec::new()),
    };
    let text = fs::read_to_string(&place.config_file).map_err(|error| {
        let missing = error.kind() == ErrorKind::NotFound;
        problems.push(if missing {
            nothing_written(&place.config_file)
        } else {
            unreadable(&place.config_file, &error)
        });
        Problems(problems.clone())
    })?;
    let read = judge(&text, place, &environment, check_files);
    match read {
        Ok(mut config) if problems.is_empty() => {
            warnings.append(&mut config.warnings);
            Ok(Config { warnings, ..config })
        }
        Ok(_) => Err(Problems(problems)),
        Err(more) => {
            problems.extend(more.0);
            Err(Problems(problems))
        }
    }
}

/// Reads the text of a configuration file without touching the disk: files that it names are not looked at.
///
/// # Errors
/// Everything that is wrong.
pub fn parse(text: &str, place: &Place, environment: &Environment) -> Result<Config, Problems> {
    judge(text, place, environment, |_, _| {})
}

fn judge(
    text: &str,
    place: &Place,
    environment: &Environment,
    check: impl FnOnce(&Config, &mut Report),
) -> Result<Config, Problems> {
    let file = place.config_file.file_name().unwrap_or_default().to_string_lossy();
    let fatal = |faults: Vec<Fault>| Problems(faults.into_iter().map(|fault| fault.in_file(&file)).collect());
    let mut faults = Vec::new();
    let mut node = match tree::parse(text, &mut faults) {
        Ok(node) => node,
        Err(fault) => {
            faults.push(fault);
            return Err(fatal(faults));
        }
    };
    if node.value == tree::Value::Null {
        // Half of a file that is being written, mostly: taken for a configuration, it would drop every route.
        let fault = Fault::new(Path::default(), None, "the file holds nothing");
        faults.push(fault.help("write what is to hold; {} is a configuration without routes"));
        return Err(fatal(faults));
    }
    variables::put_in(&mut node, environment, &mut faults);
    let Some(raw) = read::everything(&mut node, &mut faults) else { return Err(fatal(faults)) };
    let mut report = Report::new(node, faults);
    let config = resolve(raw, &place.home, environment, &mut report);
    check(&config, &mut report);
    let (problems, warnings) = report.sorted(&file);
    if problems.is_empty() { Ok(Config { warnings, ..config }) } else { Err(Problems(problems)) }
}

/// Checks what was read. What is wrong is in the report, and then the result is of no use.
fn resolve(raw: raw::File, home: &FilePath, environment: &Environment, report: &mut Report) -> Config {
    let (server, defaults) = server::server(&raw.server, home, environment, report);
    let admin = server::admin(&raw.admin, &server, home, report);
    let agent_names: BTreeSet<String> = raw.agents.keys().cloned().collect();
    let known: Vec<&str> = agent_names.iter().map(String::as_str).collect();
    let default_agent = agent::default_agent(raw.default_agent.as_deref(), &known, report);
    let store = store::store(&raw.store, home, report);
    let agents = agent::agents(raw.agents, report);
    let used = raw.routes.values().flat_map(|route| route.deliver.0.iter().map(String::as_str));
    let targets = target::targets(&raw.targets, used, report);
    let around = Surroundings {
        home,
        listen: &server.listen,
        defaults: &defaults,
        agents: &agent_names,
        default_agent: &default_agent,
        targets: &targets,
        known_for: store.retention.succeeded.min(store.retention.cancelled),
    };
    let routes = raw.routes.into_iter().filter_map(|(name, raw)| {
        let route = route::resolve(&name, raw, &around, report)?;
        Some((name, Arc::new(route)))
    });
    let routes = routes.collect();
    Config {
        server,
        admin,
        store,
        agents,
        routes,
        targets,
        max_hops: raw.hooks.max_hops,
        warnings: Vec::new(),
        environment: environment.real().clone(),
    }
}

/// Looks at the files that the configuration names.
fn check_files(config: &Config, report: &mut Report) {
    for (section, listen) in [("server", &config.server.listen), ("admin", &config.admin.listen)] {
        let Some(Tls { cert, key }) = &listen.tls else { continue };
        for (name, file) in [("cert", cert), ("key", key)] {
            if let Err(error) = fs::File::open(file).and_then(|file| file.metadata()) {
                let message = format!("{} cannot be read: {error}", file.display());
                report.fault(&Path::new(&[section, "tls", name]), message, "");
            }
        }
    }
}

fn nothing_written(file: &FilePath) -> Problem {
    Problem {
        path: String::new(),
        file: String::new(),
        at: None,
        message: format!("there is no {}", file.display()),
        help: Some(
            "write one (`doorbell schema` describes its keys), or see Doorbell work with `doorbell demo`".to_owned(),
        ),
    }
}

fn unreadable(file: &FilePath, error: &std::io::Error) -> Problem {
    let message = format!("{} cannot be read: {error}", file.display());
    Problem { path: String::new(), file: String::new(), at: None, message, help: None }
}
