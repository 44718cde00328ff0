//! `tas-mcp export`: exports results to the test-management system, by any id or name.

use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use serde_json::{Value, json};

use super::{
    calls::{ask_before_cost, build_caller},
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    name_completion::{NameKind, name_completions},
    name_resolution::{Latest, NameResolver},
    output::{JsonFlag, print_line, prints_json, status_after_output},
    reply_output::plain_text,
    tool_arguments::ProjectFlag,
};
use crate::{
    call::arguments::{CommonArguments, ToolArguments},
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::exports::ExportTmsysRun, catalog::ListedOperation as _, operation::Operation as _,
        result_kind::ResultKind,
    },
    settings::Settings,
};

#[derive(Args)]
struct ExportArguments {
    /// Id of an execution, a run or a job; or the name of a plan or a test: its latest result; or `latest`. Several ids
    /// of runs
    #[arg(value_name = "ID", num_args = 1.., required = true, add = name_completions(NameKind::AnyResult))]
    ids: Vec<String>,

    /// Name of the entry. Default: generated
    #[arg(long)]
    name: Option<String>,

    #[command(flatten)]
    project: ProjectFlag,

    #[command(flatten)]
    output: JsonFlag,

    /// Create another entry for an execution that was exported before
    #[arg(long)]
    new: bool,

    /// Leave the entry open for further results
    #[arg(long)]
    keep_open: bool,

    /// Do not ask before another entry is created
    #[arg(long)]
    yes: bool,
}

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let command = Command::new("export")
        .about("Exports results to the test-management system")
        .after_help(help_end(&["tas-mcp export EXECUTION_ID"], ExitStatus::HELP));

    ExportArguments::augment_args(command)
}

/// Exports the results and prints where they are.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = ExportArguments::from_arg_matches(matches)?;
    let project = arguments.project.project_id.as_deref();
    let caller = build_caller(settings)?;
    let resolver = NameResolver::new(&caller, project);
    let mut own = sources(resolver, &arguments.ids).await?;
    if let Some(name) = &arguments.name {
        own.insert("custom_run_name".to_owned(), json!(name));
    }
    let is_execution = own.contains_key(ResultKind::Execution.argument());
    // An execution has one entry. Exports of runs always create one.
    own.insert("force_new_run".to_owned(), json!(arguments.new || !is_execution));
    own.insert("close_run_on_completion".to_owned(), json!(!arguments.keep_open));
    ask_before_cost(ExportTmsysRun::NAME, &own, || arguments.yes)?;

    let call = ToolArguments::new(own, CommonArguments::in_project(project));
    let reply = caller.call_guarded(ExportTmsysRun::entry(), call).await?;

    let value = reply.value();
    let printed =
        if prints_json(arguments.output.json) { print_line(value) } else { print_line(description(value)) };
    let is_successful = value.get("success") == Some(&Value::Bool(true));
    let status = if is_successful { ExitStatus::Success } else { ExitStatus::Rejected };

    Ok(status_after_output(status, printed))
}

/// Returns the argument of the tool that names the results.
async fn sources(resolver: NameResolver<'_>, names: &[String]) -> Result<Fields, Failure> {
    let mut runs = Vec::new();

    for name in names {
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
