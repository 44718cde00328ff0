//! Values against JSON schemas of draft 2020-12.

use boon::{Compiler, SchemaIndex, Schemas, ValidationError};
use serde_json::Value;

/// A schema that was found valid.
pub(crate) struct Validator {
    schemas: Schemas,
    root: SchemaIndex,
}

impl Validator {
    /// Compiles a schema, whose formats count.
    pub(crate) fn new(schema: &Value) -> Self {
        let mut compiler = Compiler::new();
        compiler.enable_format_assertions();
        compiler.add_resource("schema.json", schema.clone()).expect("a schema");

        let mut schemas = Schemas::new();
        let root = compiler.compile("schema.json", &mut schemas);
        let root = root.unwrap_or_else(|error| panic!("the schema is not valid: {error:#}: {schema}"));
        Self { schemas, root }
    }

    pub(crate) fn is_valid(&self, value: &Value) -> bool {
        self.violations(value).is_empty()
    }

    pub(crate) fn violations(&self, value: &Value) -> Vec<String> {
        let outcome = self.schemas.validate(value, self.root);
        outcome.err().map(|error| leaves(&error)).unwrap_or_default()
    }
}

fn leaves(error: &ValidationError<'_, '_>) -> Vec<String> {
    if error.causes.is_empty() {
        return vec![format!("`{}`: {}", error.instance_location, error.kind)];
    }

    error.causes.iter().flat_map(leaves).collect()
}
