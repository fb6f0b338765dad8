//! STANDIN
use std::collections::BTreeMap;
use std::sync::Arc;
use crate::report::Report;
pub(crate) fn targets(_: BTreeMap<String, serde_json::Value>, _: &mut Report) -> BTreeMap<String, Arc<()>> { [("log".to_owned(), Arc::new(()))].into() }
