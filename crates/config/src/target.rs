//! The targets of the file, and those that need no entry there.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use targets::{Target, TargetError};

use crate::path::Path;
use crate::report::Report;

/// The targets by name.
pub(crate) type Targets = BTreeMap<String, Arc<Target>>;

/// The target that is always there.
pub(crate) const LOG: &str = "log";

/// Checks every entry, and adds `log` and each of the `used` names that means something without an entry. What is wrong
/// is in the report.
pub(crate) fn targets<'u>(
    raw: &BTreeMap<String, Value>,
    used: impl Iterator<Item = &'u str>,
    report: &mut Report,
) -> Targets {
    let mut targets = Targets::new();
    for (name, options) in raw {
        match Target::resolve(name, options) {
            Ok(target) => {
                targets.insert(name.clone(), Arc::new(target));
            }
            Err(errors) => {
                for error in errors {
                    note(error, &Path::new(&["targets", name]), report);
                }
            }
        }
    }
    for name in used.chain([LOG]).filter(|name| !raw.contains_key(*name)) {
        if let Ok(target) = Target::builtin(name) {
            targets.insert(name.to_owned(), Arc::new(target));
        }
    }
    targets
}

/// Notes what is wrong with the settings or values at `at`.
pub(crate) fn note(error: TargetError, at: &Path, report: &mut Report) {
    let help = error.nearest.map_or(String::new(), |nearest| format!("did you mean `{nearest}`?"));
    report.fault(&at.dotted(&error.key), error.message, help);
}
