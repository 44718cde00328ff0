//! Completion of the values of tool arguments.

use clap::Arg;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use serde_json::Value;

use super::name_completion::{NameKind, name_completions};

/// Returns `flag`, which sets the argument `name` of a tool, with the completion of its values.
pub(super) fn complete_argument(flag: Arg, name: &str, schema: &Value) -> Arg {
    let choices = choices(schema);
    if !choices.is_empty() {
        return complete_choices(flag, choices);
    }

    complete_name(flag, name)
}

/// Returns `flag`, with the completion of the records that the argument `name` of a tool refers to, if it refers to
/// any.
pub(super) fn complete_name(flag: Arg, name: &str) -> Arg {
    match NameKind::of_argument(name) {
        Some(kind) => flag.add(name_completions(kind)),
        None => flag,
    }
}

/// Returns `flag`, which is completed with these words.
pub(super) fn complete_choices(flag: Arg, choices: Vec<String>) -> Arg {
    let candidates = move || choices.iter().map(CompletionCandidate::new).collect();
    flag.add(ArgValueCandidates::new(candidates))
}

/// Returns the values that the schema of an argument, or of the items of a list, permits.
fn choices(schema: &Value) -> Vec<String> {
    let of = |schema: &Value| schema.get("enum").and_then(Value::as_array).cloned();
    let choices = of(schema).or_else(|| of(schema.get("items")?));
    if let (None, Some("boolean")) = (&choices, schema.get("type").and_then(Value::as_str)) {
        return ["true", "false"].map(str::to_owned).to_vec();
    }

    choices.iter().flatten().filter_map(|choice| choice.as_str().map(str::to_owned)).collect()
}
