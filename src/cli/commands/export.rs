//! `tas-mcp export`: exports results to the test-management system, by any id or name.

use std::collections::BTreeMap;

use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use serde_json::json;

use crate::{
    call::ToolArguments,
    cli::{
        calls::{build_caller_with_files, call_with_confirmation},
        columns::counted,
        exit_status::{CommandError, ExitStatus},
        help::help_end,
        name_resolution::NameResolver,
        result_resolution::Latest,
        tool_arguments::ChangeFlags,
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{
            Id,
            exports::{ExportResult, ExportTmsysRun, ExportWarning},
            runs::GetRun,
        },
        catalog::ListedOperation as _,
        record_kind::ResultKind,
    },
    settings::Settings,
    text::single_line,
    tools::{catalog::ListedTool as _, project_client::ProjectClient},
};

/// Largest number of runs that are read for the names of the tests in warnings.
const MAX_NAMED_RUNS: usize = 20;

#[derive(Args)]
struct ExportArguments {
    /// Id of an execution, a run or a job; or the name of a plan or a test: its latest result; or `latest`. Several ids
    /// of runs
    #[arg(value_name = "ID", num_args = 1.., required = true)]
    ids: Vec<String>,

    /// Name of the entry. Default: generated
    #[arg(long)]
    name: Option<String>,

    /// Create another entry for an execution that was exported before
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true")]
    new: bool,

    /// Leave the entry open for further results
    #[arg(long)]
    keep_open: bool,

    #[command(flatten)]
    change: ChangeFlags,
}

enum Source {
    Execution(String),
    Runs(Vec<String>),
}

pub(super) fn command() -> Command {
    let command = Command::new("export").about("Exports results to the test-management system").after_help(
        help_end(&["tas-mcp export EXECUTION_ID", "tas-mcp export RUN_ID --yes"], ExitStatus::HELP),
    );

    ExportArguments::augment_args(command)
}

pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = ExportArguments::from_arg_matches(matches)?;
    let change = &arguments.change;
    let tools = build_caller_with_files(settings)?;
    tools.caller.check_writable(&ExportTmsysRun::entry().tool)?;
    let source = source(NameResolver::new(&tools.caller, change.project()), &arguments.ids).await?;

    let call = ToolArguments::new(source.fields(&arguments), change.common());
    let reply = call_with_confirmation(&tools, ExportTmsysRun::tool(), call).await?;
    if change.dry_run {
        return change.show(&reply);
    }

    let result = reply.view::<ExportTmsysRun>();
    let status = if result.success { ExitStatus::Success } else { ExitStatus::Rejected };

    let client = ProjectClient { caller: tools.caller, project: change.project().map(str::to_owned) };
    let is_for_programs = change.output().is_for_programs();
    let tests = if is_for_programs { BTreeMap::new() } else { test_names(&client, &result).await };
    change.output().print(status, reply.value(), || description(&source, &result, &tests))
}

async fn source(resolver: NameResolver<'_>, names: &[String]) -> Result<Source, Failure> {
    let mut runs = Vec::new();
    for name in names {
        let result = resolver.result(name, Latest::Result).await?;
        match result.kind {
            ResultKind::Execution if names.len() == 1 => return Ok(Source::Execution(result.id)),
            ResultKind::Execution => {
                let message = format!("`{name}` is a plan execution, which is exported alone");
                return Err(Failure::new(Code::InvalidArguments, message).hint("nothing was sent"));
            }
            ResultKind::Run => runs.push(result.id),
            ResultKind::Job => runs.push(resolver.run_of_job(&result.id).await?),
        }
    }

    Ok(Source::Runs(runs))
}

impl Source {
    fn fields(&self, arguments: &ExportArguments) -> Fields {
        // An execution has one entry. Exports of runs always create one.
        let creates_another = arguments.new || matches!(self, Self::Runs(_));
        let (argument, value) = match self {
            Self::Execution(execution) => (ResultKind::Execution.argument(), json!(execution)),
            Self::Runs(runs) => match runs.as_slice() {
                [run] => ("multiplayer_run_id", json!(run)),
                runs => ("multiplayer_run_ids", json!(runs)),
            },
        };
        let name = arguments.name.as_ref().map(|name| ("custom_run_name", json!(name)));
        let fields = [
            (argument, value),
            ("force_new_run", json!(creates_another)),
            ("close_run_on_completion", json!(!arguments.keep_open)),
        ];

        fields.into_iter().chain(name).map(|(argument, value)| (argument.to_owned(), value)).collect()
    }

    fn name(&self) -> String {
        match self {
            Self::Execution(execution) => format!("the execution {execution}"),
            Self::Runs(runs) if runs.len() == 1 => format!("the run {}", runs.concat()),
            Self::Runs(runs) => format!("{} runs", runs.len()),
        }
    }
}

/// Returns the names of the tests of the runs that the warnings name, by the ids of the runs.
async fn test_names(client: &ProjectClient, result: &ExportResult) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for id in result.warnings.iter().flatten().filter_map(|warning| warning.run_id.clone()) {
        if names.len() >= MAX_NAMED_RUNS || names.contains_key(&id) {
            continue;
        }
        // A run that cannot be read is named by its id.
        if let Ok(run) = client.call(&GetRun { run_id: Id(id.clone()) }).await {
            names.insert(id, run.view::<GetRun>().head.test.name);
        }
    }

    names
}

fn description(source: &Source, result: &ExportResult, tests: &BTreeMap<String, String>) -> String {
    let outcome = match (result.success, result.already_exported) {
        (true, Some(true)) => "exported before; nothing was sent. `--new` creates another entry".to_owned(),
        (true, _) => {
            let cases = counted(usize::try_from(result.total_test_cases).unwrap_or(usize::MAX), "test case");
            format!("exported {cases} of {}", source.name())
        }
        (false, _) => {
            let error = result.error.as_deref().unwrap_or("the service does not say why");
            format!("not exported: {error}")
        }
    };
    let entry = result.tmsys_run_name.as_ref().or(result.tmsys_plan_name.as_ref());
    let entry = entry.filter(|_| result.success).map(|name| format!("entry: {name}"));
    let address = result.tmsys_run_url.clone().or(result.tmsys_plan_url.clone());
    let skipped = result.skipped_cases.as_ref().filter(|cases| !cases.is_empty()).map(|cases| {
        let cases: Vec<_> = cases.iter().map(u64::to_string).collect();
        format!("skipped cases: {}", cases.join(", "))
    });
    let warnings = result.warnings.iter().flatten().map(|warning| warning_line(warning, tests));

    let lines = std::iter::once(outcome).chain(entry).chain(address).chain(skipped).chain(warnings);
    lines.map(|line| single_line(&line) + "\n").collect()
}

fn warning_line(warning: &ExportWarning, tests: &BTreeMap<String, String>) -> String {
    let run = warning.run_id.as_ref().map(|id| match tests.get(id) {
        Some(test) => format!("{test} (run {id}): "),
        None => format!("run {id}: "),
    });
    let details = warning.details.as_ref().map(|details| format!(" ({details})"));
    let message = if warning.message.is_empty() { &warning.r#type } else { &warning.message };

    format!("warning: {}{message}{}", run.unwrap_or_default(), details.unwrap_or_default())
}
