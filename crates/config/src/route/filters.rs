//! The conditions of a route.

use std::path::{Component, Path as FilePath};

use rules::filter::Filter;

use crate::path::Path;
use crate::raw::Filters;
use crate::report::Report;

/// Reads them; what is wrong is in the report. A route with a filter that cannot be read is not made: it would let everybody
/// through.
pub(super) fn filter(written: &Filters, at: &Path, home: &FilePath, report: &mut Report) -> Option<Filter> {
    if report.is_broken(at) {
        return None;
    }
    if written.0.is_null() {
        return Some(Filter::default());
    }
    let filter = match Filter::read(&written.0) {
        Ok(filter) => filter,
        Err(errors) => {
            for error in errors {
                report.fault(&at.dotted(&error.at), error.message, error.help);
            }
            return None;
        }
    };
    for file in filter.files() {
        list(FilePath::new(file), at, home, report);
    }
    Some(filter)
}

/// A list is the operator's: below the home, or where an absolute path says.
fn list(file: &FilePath, at: &Path, home: &FilePath, report: &mut Report) {
    let is_below = file.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !file.is_absolute() && !is_below {
        let message = format!("in_file: {} leaves the home", file.display());
        return report.fault(at, message, "give a path below the home, or an absolute one");
    }
    if !home.join(file).is_file() {
        let message = format!("in_file: there is no file {}", home.join(file).display());
        report.warn(at, message, "until there is one, its list is empty");
    }
}
