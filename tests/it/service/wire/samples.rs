//! Arguments from the examples of the document.

use serde_json::{Value, json};
use tas_mcp::fields::Fields;

use crate::support::contract::{Operation, resolved};

impl Operation {
    /// Returns the parameters in `place`: `path` (without the project) or `query`.
    pub(super) fn parameters_in(&self, place: &str) -> impl Iterator<Item = &'static Value> {
        let wanted = move |parameter: &&Value| parameter["in"] == place && parameter["name"] != "projectId";
        self.parameters.iter().copied().filter(wanted)
    }

    /// Returns a value for each parameter in `place`, by the name of the argument.
    pub(crate) fn sample(&self, place: &str) -> Fields {
        self.parameters_in(place).map(|parameter| (argument(parameter), sample(parameter))).collect()
    }

    /// Returns the path within the project, with examples instead of placeholders.
    pub(super) fn sample_path(&self) -> String {
        // Service.md 1.1.
        let mut path = self.path.strip_prefix("/project/{projectId}").unwrap_or(self.path).to_owned();
        for parameter in self.parameters_in("path") {
            let name = parameter["name"].as_str().expect("parameters have names");
            path = path.replace(&format!("{{{name}}}"), parameter["example"].as_str().unwrap_or("any"));
        }
        path
    }
}

/// Returns the argument name of a parameter of the document: `runId` is `run_id`.
pub(super) fn argument(parameter: &Value) -> String {
    let name = parameter["name"].as_str().expect("parameters have names");
    if name == "executionId" {
        return "test_plan_execution_id".to_owned();
    }

    let mut argument = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            argument.push('_');
        }
        argument.push(letter.to_ascii_lowercase());
    }

    argument
}

/// Whether the parameter is text on the wire and a list as an argument.
pub(super) fn is_comma_separated(parameter: &Value) -> bool {
    parameter["description"].as_str().is_some_and(|text| text.starts_with("Comma-separated"))
}

/// Returns the example of a parameter as an argument. Without an example, returns the default or a valid value.
fn sample(parameter: &'static Value) -> Value {
    let schema = resolved(&parameter["schema"]);
    let given = [parameter.get("example"), schema.get("default"), schema.pointer("/enum/0")];

    match given.into_iter().flatten().next() {
        Some(Value::String(text)) if is_comma_separated(parameter) => {
            json!(text.split(',').collect::<Vec<_>>())
        }
        Some(value) => value.clone(),
        None if schema["format"] == "uuid" => json!("0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"),
        None if schema["type"] == "boolean" => json!(true),
        None => json!("Ä & b=c, d"),
    }
}
