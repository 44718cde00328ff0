//! `tas-mcp export`: exports results to the test-management system, by any id or name.

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};

use super::{
    calls::{YES, ask_before_cost, build_caller},
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    name_completion::{NameKind, name_completions},
    name_resolution::{Latest, NameResolver},
    output::{json_flag, print_line, prints_json, status_after_output, wants_json},
    reply_output::plain_text,
    tool_arguments::project_flag,
};
use crate::{
    call::arguments::{CommonArguments, ToolArguments},
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::exports::ExportTmsysRun, catalog::ListedOperation as _, operation::Operation as _,
        result_kind::ResultKind, tool::PROJECT_ID,
    },
    settings::Settings,
};

const IDS: &str = "ids";
const NAME: &str = "name";
const NEW: &str = "new";
const KEEP_OPEN: &str = "keep-open";

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let ids = Arg::new(IDS)
        .value_name("ID")
        .num_args(1..)
        .required(true)
        .add(name_completions(NameKind::AnyResult));
    let ids = ids.help(
        "Id of an execution, a run or a job; or the name of a plan or a test: its latest result; or `latest`. Several ids of runs",
    );
    let name = Arg::new(NAME).long(NAME).value_name("NAME").help("Name of the entry. Default: generated");
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };

    Command::new("export")
        .about("Exports results to the test-management system")
        .after_help(help_end(&["tas-mcp export EXECUTION_ID"], ExitStatus::HELP))
        .args([ids, name, project_flag(), json_flag()])
        .args([
            switch(NEW, "Create another entry for an execution that was exported before"),
            switch(KEEP_OPEN, "Leave the entry open for further results"),
            switch(YES, "Do not ask before another entry is created"),
        ])
}

/// Exports the results and prints where they are.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let project = matches.get_one::<String>(PROJECT_ID).map(String::as_str);
    let caller = build_caller(settings)?;
    let resolver = NameResolver::new(&caller, project);
    let mut own = sources(resolver, matches).await?;
    if let Some(name) = matches.get_one::<String>(NAME) {
        own.insert("custom_run_name".to_owned(), json!(name));
    }
    let is_execution = own.contains_key(ResultKind::Execution.argument());
    // An execution has one entry. Exports of runs always create one.
    own.insert("force_new_run".to_owned(), json!(matches.get_flag(NEW) || !is_execution));
    own.insert("close_run_on_completion".to_owned(), json!(!matches.get_flag(KEEP_OPEN)));
    ask_before_cost(ExportTmsysRun::NAME, &own, matches)?;

    let arguments = ToolArguments::new(own, CommonArguments::in_project(project));
    let reply = caller.call_guarded(ExportTmsysRun::entry(), arguments).await?;

    let value = reply.value();
    let printed =
        if prints_json(wants_json(matches)) { print_line(value) } else { print_line(description(value)) };
    let is_successful = value.get("success") == Some(&Value::Bool(true));
    let status = if is_successful { ExitStatus::Success } else { ExitStatus::Rejected };

    Ok(status_after_output(status, printed))
}

/// Returns the argument of the tool that names the results.
async fn sources(resolver: NameResolver<'_>, matches: &ArgMatches) -> Result<Fields, Failure> {
    let names: Vec<_> = matches.get_many::<String>(IDS).into_iter().flatten().collect();
    let mut runs = Vec::new();

    for name in &names {
        let result = resolver.result(name, Latest::Result).await?;
        match result.kind {
            ResultKind::Execution if names.len() == 1 => return Ok(result.to_arguments()),
            ResultKind::Execution => {
                let message = format!("`{name}` is a plan execution, which is exported alone");
                return Err(Failure::new(Code::InvalidArguments, message).hint("nothing was sent"));
            }
            ResultKind::Run => runs.push(result.id),
            ResultKind::Job => runs.push(resolver.run_of_job(&result.id).await?),
        }
    }

    let (argument, value) = match runs.as_slice() {
        [run] => ("multiplayer_run_id", json!(run)),
        _ => ("multiplayer_run_ids", json!(runs)),
    };

    Ok(Fields::from_iter([(argument.to_owned(), value)]))
}

/// Returns the outcome of an export for users.
fn description(reply: &Value) -> String {
    let text = |name: &str| reply.get(name).map(plain_text).filter(|text| !text.is_empty());
    let address = text("tmsys_run_url").or_else(|| text("tmsys_plan_url"));
    let outcome = match (reply.get("success"), reply.get("already_exported")) {
        (Some(Value::Bool(true)), Some(Value::Bool(true))) => {
            "exported before; nothing was sent. `--new` creates another entry".to_owned()
        }
        (Some(Value::Bool(true)), _) => {
            format!("exported {} test cases", text("total_test_cases").unwrap_or_default())
        }
        _ => format!("not exported: {}", text("error").unwrap_or("the service does not say why".to_owned())),
    };
    let warnings = reply.get("warnings").and_then(Value::as_array).into_iter().flatten();
    let warnings =
        warnings.filter_map(|warning| Some(format!("\nwarning: {}", warning.get("message")?.as_str()?)));

    let address = address.map(|address| format!("\n{address}"));
    std::iter::once(outcome).chain(address).chain(warnings).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outcome_names_the_entry_and_the_warnings() {
        let cases = [
            (
                json!({"success": true, "already_exported": false, "total_test_cases": 3, "tmsys_run_url": "https://t/1"}),
                "exported 3 test cases\nhttps://t/1",
            ),
            (
                json!({"success": true, "already_exported": true, "total_test_cases": 0, "tmsys_plan_url": "https://t/2"}),
                "exported before; nothing was sent. `--new` creates another entry\nhttps://t/2",
            ),
            (
                json!({"success": false, "error": "no mapping", "warnings": [{"message": "a case is skipped"}]}),
                "not exported: no mapping\nwarning: a case is skipped",
            ),
            (json!({"success": false}), "not exported: the service does not say why"),
        ];

        for (reply, expected) in cases {
            assert_eq!(description(&reply), expected);
        }
    }
}
