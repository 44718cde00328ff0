//! The question before a command that costs more than one start or one export. The service cannot undo either.

use clap::ArgMatches;
use serde_json::Value;

use super::{
    command_error::CommandError,
    confirmation::{ConsentAnswer, YES, ask, declined},
};
use crate::{
    fields::Fields,
    service::{
        api::{exports::ExportTmsysRun, runs::StartRun},
        operation::Operation as _,
        result_kind::ResultKind,
    },
};

/// Returns whether calls of the tool `tool` may cost more than a user expects.
pub(super) fn may_ask(tool: &str) -> bool {
    [StartRun::NAME, ExportTmsysRun::NAME].contains(&tool)
}

/// Asks the user at the terminal before a costly call, unless `--yes` is given. Without a terminal nobody is asked: a
/// CI job has named what it wants.
///
/// # Errors
/// That the user declined.
pub(super) fn ask_before_cost(
    tool: &str,
    arguments: &Fields,
    matches: &ArgMatches,
) -> Result<(), CommandError> {
    let Some(statement) = statement(tool, arguments).filter(|_| !matches.get_flag(YES)) else {
        return Ok(());
    };

    match ask(&statement)? {
        ConsentAnswer::No => Err(declined().into()),
        ConsentAnswer::Yes | ConsentAnswer::NotAsked => Ok(()),
    }
}

/// Returns what a call costs; `None` if it is one start, or an export that returns an existing entry.
fn statement(tool: &str, arguments: &Fields) -> Option<String> {
    let number = |value: &Value| value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
    let is = |value: &Value, expected: bool| {
        value.as_bool().or_else(|| value.as_str()?.parse().ok()) == Some(expected)
    };

    if tool == StartRun::NAME {
        let instances = arguments.get("instances").and_then(number).filter(|instances| *instances > 1)?;
        return Some(format!("This starts {instances} runs, and each costs as much as one run"));
    }

    let is_execution = arguments.contains_key(ResultKind::Execution.argument());
    let returns_existing = arguments.get("force_new_run").is_some_and(|value| is(value, false));
    let creates_another = tool == ExportTmsysRun::NAME && !(is_execution && returns_existing);
    creates_another.then(|| {
        "This creates a new entry in the test-management system, even if these results were exported before"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn several_starts_and_new_entries_are_stated() {
        let cases = [
            ("start_run", json!({}), false),
            ("start_run", json!({"instances": 1}), false),
            ("start_run", json!({"instances": "3"}), true),
            ("start_run", json!({"instances": 3}), true),
            ("export_tmsys_run", json!({"multiplayer_run_id": "r"}), true),
            ("export_tmsys_run", json!({"multiplayer_run_id": "r", "force_new_run": false}), true),
            ("export_tmsys_run", json!({"test_plan_execution_id": "e"}), true),
            ("export_tmsys_run", json!({"test_plan_execution_id": "e", "force_new_run": "false"}), false),
            ("stop_runs", json!({"job_ids": ["j"]}), false),
        ];

        for (tool, arguments, is_stated) in cases {
            let fields = arguments.as_object().expect("an object");
            assert_eq!(statement(tool, fields).is_some(), is_stated, "{tool} {arguments}");
        }
    }
}
