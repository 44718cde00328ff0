//! What a person reads before a call that needs an agreement: names, numbers and sizes in place of ids.

use std::time::Duration;

use indicatif::HumanBytes;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    call::{Caller, CommonArguments, ToolArguments},
    failure::{Code, Failure},
    fields::{Fields, field_at, text_at},
    service::{
        api::{
            builds::GetBuild, configs::ListDeploymentConfigs, jobs::GetJob, jobs::GetTestPlanExecution,
            plans::GetTestPlan, runs::GetRun, shared_steps::GetSharedStep, tests::GetTest,
        },
        catalog::{ListedOperation as _, OperationEntry},
    },
    text::{quoted_name, single_line},
};

/// An argument with ids, the operation that reads a record, the argument of that operation, and the field with the name.
type NamedArgument = (&'static str, fn() -> &'static OperationEntry, &'static str, &'static str);

const NAMED: [NamedArgument; 9] = [
    ("build_id", GetBuild::entry, "build_id", "name"),
    ("test_id", GetTest::entry, "test_id", "name"),
    ("multiplayer_test_id", GetTest::entry, "test_id", "name"),
    ("test_plan_id", GetTestPlan::entry, "test_plan_id", "name"),
    ("shared_step_id", GetSharedStep::entry, "shared_step_id", "name"),
    ("job_ids", GetJob::entry, "job_id", "test_name"),
    ("multiplayer_run_id", GetRun::entry, "run_id", "test.name"),
    ("multiplayer_run_ids", GetRun::entry, "run_id", "test.name"),
    ("test_plan_execution_id", GetTestPlanExecution::entry, "test_plan_execution_id", "test_plan_name"),
];

const DEVICE: &str = "deployment_config_id";

/// How long the names may take. A question with ids is better than a late one.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Returns the refusal `required` of a call with names in place of the ids that it quotes. What cannot be read in time keeps its
/// id. If the service does not accept the key, or a record does not exist, returns that failure: there is nothing to ask.
pub async fn with_names(caller: &Caller, call: &ToolArguments, required: Failure) -> Failure {
    let named = timeout(TIME_LIMIT, named(caller, call, required.clone())).await;
    named.unwrap_or(required)
}

async fn named(caller: &Caller, call: &ToolArguments, mut required: Failure) -> Failure {
    for (argument, value) in &call.own {
        let ids = match value {
            Value::Array(ids) => ids.iter().collect(),
            id => vec![id],
        };
        for id in ids.into_iter().filter_map(Value::as_str) {
            let quoted = format!("`{id}`");
            if !required.message.contains(&quoted) {
                continue;
            }
            match name_of(caller, call.common.project_id.as_deref(), argument, id).await {
                Ok(Some(name)) => required.message = required.message.replace(&quoted, &name),
                Err(failure) if matches!(failure.code, Code::Unauthenticated | Code::NotFound) => {
                    return failure;
                }
                Ok(None) | Err(_) => {}
            }
        }
    }

    required
}

async fn name_of(
    caller: &Caller,
    project: Option<&str>,
    argument: &str,
    id: &str,
) -> Result<Option<String>, Failure> {
    let call = async |entry, argument: &str, value: Value| {
        let own = Fields::from_iter([(argument.to_owned(), value)]);
        caller.call(entry, ToolArguments::new(own, CommonArguments::in_project(project))).await
    };
    if argument == DEVICE {
        let devices = call(ListDeploymentConfigs::entry(), "page_size", json!(100)).await?;
        let devices = devices.value().get("data").and_then(Value::as_array).into_iter().flatten();
        let mut devices = devices.filter(|device| text_at(device, "id") == Some(id));
        return Ok(devices.find_map(|device| text_at(device, "name")).map(quoted_name));
    }

    let Some((_, read, of_record, field)) = NAMED.into_iter().find(|(name, ..)| *name == argument) else {
        return Ok(None);
    };
    let reply = call(read(), of_record, json!(id)).await?;
    let name = text_at(reply.value(), field).map(quoted_name);
    Ok(name.map(|name| name + &size_of(argument, reply.value())))
}

/// Returns how large a record is: a build or a plan.
fn size_of(argument: &str, record: &Value) -> String {
    match argument {
        "build_id" => {
            let platform = text_at(record, "platform").unwrap_or("unknown platform");
            let bytes = field_at(record, "file_size").and_then(Value::as_u64).unwrap_or_default();
            format!(" ({}, {})", single_line(platform), HumanBytes(bytes))
        }
        "test_plan_id" => {
            let tests = field_at(record, "test_items").and_then(Value::as_array).map_or(0, Vec::len);
            format!(" ({tests} tests)")
        }
        _ => String::new(),
    }
}
