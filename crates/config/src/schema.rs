//! The JSON Schema of the file, for editors and for the reference page.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::raw::File;

/// The JSON Schema (2020-12) of `config.yaml`; the same at every call. Unknown keys are refused, and every key has its
/// description.
pub fn schema() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<File>().to_value()
}
