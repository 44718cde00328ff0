//! Names in the arguments of tools, in place of ids.

use serde_json::{Value, json};

use super::{
    build_choice::choose_build,
    name_resolution::{Latest, NameResolver},
    notes::note,
};
use crate::{
    failure::{Code, Failure},
    fields::Fields,
    service::{
        arguments::is_uuid,
        result_kind::ResultKind,
        tool::{Effect, ToolDefinition},
    },
    tools::name_search::RecordKind,
};

const DEVICE: &str = "deployment_config_id";
const BUILD: &str = "build_id";

/// The arguments that take the id of a record with a name. The device comes before the build, because a build is chosen
/// for the platform of the device.
const NAMED: [(&str, RecordKind); 12] = [
    ("multiplayer_test_id", RecordKind::Test),
    ("test_id", RecordKind::Test),
    ("test_case_id", RecordKind::Test),
    ("test_plan_id", RecordKind::TestPlan),
    (DEVICE, RecordKind::DeploymentConfig),
    (BUILD, RecordKind::Build),
    ("agent_config_id", RecordKind::AgentConfig),
    ("agent_id", RecordKind::AgentConfig),
    ("folder_id", RecordKind::TestFolder),
    ("parent_folder_id", RecordKind::TestFolder),
    ("shared_step_id", RecordKind::SharedStep),
    ("bug_id", RecordKind::Bug),
];

/// The arguments that take a device and a build for each player or slot.
const DEVICES_BY_NUMBER: [&str; 2] = ["player_deployment_configs", "slot_deployment_configs"];

/// Returns the kind of the records whose names and ids the argument `name` takes.
pub(super) fn record_kind(name: &str) -> Option<RecordKind> {
    NAMED.iter().find(|(argument, _)| *argument == name).map(|(_, kind)| *kind)
}

/// Replaces the names in the arguments of `tool` by ids.
///
/// # Errors
/// `invalid_arguments` with the records to choose from.
pub(super) async fn resolve(
    resolver: NameResolver<'_>,
    tool: &ToolDefinition,
    arguments: &mut Fields,
) -> Result<(), Failure> {
    // What is deleted, stopped or replaced must be named exactly.
    let accepts_words = matches!(tool.effect, Effect::Reads | Effect::Creates);
    let mut platform = None;

    for (argument, kind) in NAMED {
        let Some(name) = named(arguments, argument, kind) else { continue };
        let record = match argument {
            BUILD if accepts_words => choose_build(resolver, &name, platform.as_deref()).await?,
            _ => resolver.record(kind, &name).await?,
        };

        match argument {
            BUILD => note(&format!("build: {} ({})", record.name, record.id)),
            DEVICE => platform = record.more.get("platform").and_then(Value::as_str).map(str::to_owned),
            _ => {}
        }
        arguments.insert(argument.to_owned(), json!(record.id));
    }

    for argument in DEVICES_BY_NUMBER {
        let Some(mut devices) = arguments.get(argument).and_then(as_object) else { continue };
        for device in devices.values_mut().filter_map(Value::as_object_mut) {
            Box::pin(resolve(resolver, tool, device)).await?;
        }
        arguments.insert(argument.to_owned(), Value::Object(devices));
    }

    Ok(())
}

/// Replaces names of results in `arguments` by ids: `latest`, or a test or plan whose latest result is meant.
///
/// # Errors
/// `invalid_arguments` if the named result is of another kind than the argument.
pub(super) async fn resolve_results(
    resolver: NameResolver<'_>,
    arguments: &mut Fields,
) -> Result<(), Failure> {
    let own = ResultKind::ALL.map(|kind| (kind.argument(), kind));
    for (argument, kind) in own.into_iter().chain([("multiplayer_run_id", ResultKind::Run)]) {
        let name = arguments.get(argument).and_then(Value::as_str);
        let Some(name) = name.filter(|name| !name.is_empty() && !is_result_id(kind, name)) else { continue };

        let result = resolver.result(name, Latest::Result).await?;
        if result.kind != kind {
            let message = format!("`{name}` is a {}, and not a {}", result.kind.noun(), kind.noun());
            return Err(Failure::new(Code::InvalidArguments, message).hint("nothing was sent"));
        }
        arguments.insert(argument.to_owned(), json!(result.id));
    }

    Ok(())
}

/// Returns whether `text` has the form of the ids of `kind`. Ids of runs are one word with digits (service.md 1.7).
pub(super) fn is_result_id(kind: ResultKind, text: &str) -> bool {
    match kind {
        ResultKind::Job | ResultKind::Execution => is_uuid(text),
        ResultKind::Run => {
            let has_digit = text.contains(|character: char| character.is_ascii_digit());
            has_digit && !text.contains(char::is_whitespace) && !is_uuid(text)
        }
    }
}

/// Returns the object that an argument holds, as JSON or as its text.
fn as_object(value: &Value) -> Option<Fields> {
    match value {
        Value::Object(object) => Some(object.clone()),
        Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    }
}

/// Returns the value of an argument if it is a name, and not an id.
fn named(arguments: &Fields, argument: &str, kind: RecordKind) -> Option<String> {
    let text = arguments.get(argument)?.as_str()?;
    let is_id = match kind {
        // The ids of these records have a prefix (service.md 8, 9).
        RecordKind::Bug => text.starts_with("bug_"),
        RecordKind::SharedStep => text.starts_with("ssc_"),
        _ => is_uuid(text),
    };

    (!text.is_empty() && !is_id).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::catalog;

    #[test]
    fn every_named_argument_belongs_to_a_tool() {
        for (argument, _) in NAMED {
            let has_argument =
                |tool: catalog::Tool| tool.input_schema()["properties"].get(argument).is_some();
            assert!(catalog::tools().any(has_argument), "{argument}");
        }
    }

    #[test]
    fn an_id_is_not_a_name() {
        for (kind, text, is_name) in [
            (RecordKind::Test, "3f2b8c1e-7a4d-4e59-9b60-1c2d3e4f5a6b", false),
            (RecordKind::Test, "Login", true),
            (RecordKind::Bug, "bug_7h2k9", false),
            (RecordKind::Bug, "Crash", true),
            (RecordKind::SharedStep, "ssc_sign_in", false),
            (RecordKind::Test, "", false),
        ] {
            let arguments = Fields::from_iter([("id".to_owned(), json!(text))]);
            assert_eq!(named(&arguments, "id", kind).is_some(), is_name, "{text}");
        }

        for (kind, text, is_id) in [
            (ResultKind::Run, "x03031trjx0", true),
            (ResultKind::Run, "x03031trjx0-1", true),
            (ResultKind::Run, "latest", false),
            (ResultKind::Run, "Level 1", false),
            (ResultKind::Job, "3f2b8c1e-7a4d-4e59-9b60-1c2d3e4f5a6b", true),
            (ResultKind::Job, "Nightly", false),
        ] {
            assert_eq!(is_result_id(kind, text), is_id, "{text}");
        }
    }
}
