//! `tas-mcp wait`: waits for jobs, a run or an execution. The exit status reports the verdicts.

use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::{
    caller::build_caller_with_files,
    command_error::CommandError,
    exit_status::ExitStatus,
    failure_output::OutputFormat,
    help_end::help_end,
    interrupted_wait::WaitSubject,
    name_completion::{NameKind, name_completions},
    name_resolution::{Latest, NameResolver},
    tool_arguments::{self, read_arguments},
    wait_progress::WaitProgress,
    wait_result::{self, WaitResult},
};
use crate::{
    failure::{Code, Failure},
    fields::Fields,
    service::{
        arguments::is_uuid,
        result_kind::{ResultId, ResultKind},
        tool::FIELDS,
    },
    settings::Settings,
    tools::{
        call_options::CallOptions,
        catalog::{ListedTool as _, Tool, typed_answer},
        composite::WaitForCompletion,
        waiting::WaitTarget,
    },
};

/// Maximum and default of the time to wait, in seconds.
pub(super) const MAX_TIMEOUT_S: u64 = 7_200;

/// Commands that the help shows.
const EXAMPLES: [&str; 2] = [
    "tas-mcp wait --job-id JOB_ID --job-id JOB_ID",
    "tas-mcp wait --test-plan-execution-id EXECUTION_ID --junit report.xml",
];

/// Arguments of the tool.
const TIMEOUT: &str = "timeout_seconds";
const JOB: &str = ResultKind::Job.argument();
const JOBS: &str = "job_ids";

/// Positional argument: what to wait for.
const IDS: &str = "ids";

/// Returns the definition of the command. Its flags are built only when the command is used.
pub(super) fn command() -> Command {
    let about = "Waits until jobs, a run or a plan execution have finished, and prints the verdicts";
    Command::new("wait").about(about).after_help(help_end(&EXAMPLES, ExitStatus::WAIT_HELP)).defer(|command| {
        let tool_command = tool_arguments::command(tool().info);
        let ids = Arg::new(IDS).value_name("ID").num_args(1..).add(name_completions(NameKind::AnyResult));
        let flags = tool_command.get_arguments().filter(|flag| flag.get_id() != FIELDS).cloned();

        command
            .arg(ids.help("Id of a run, a job or an execution; or the name of a test or a plan: its latest start; or `latest`. Several ids of jobs"))
            .args(flags)
            .arg(wait_result::junit_flag())
            .mut_arg(TIMEOUT, |flag| flag.help("1-7200, default 7200"))
            .mut_arg(JOB, |flag| flag.help("Job id from a start; may be repeated"))
            .mut_arg(ResultKind::Run.argument(), |flag| flag.help("Run id, instead of a job"))
            .mut_arg(ResultKind::Execution.argument(), |flag| {
                flag.help("Execution id from the start of a plan, instead of a job")
            })
    })
}

/// Waits and prints the verdicts.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let mut arguments = read_arguments(tool().info, matches)?;
    let junit = wait_result::junit_file(matches)?;
    let project = arguments.common.project_id.clone();
    let tools = build_caller_with_files(settings)?;

    if let Some(names) = matches.get_many::<String>(IDS) {
        let resolver = NameResolver::new(&tools.caller, project.as_deref());
        arguments.own.extend(named_targets(resolver, names).await?);
    }
    adapt_to_command_line(&mut arguments.own);

    let subject = WaitSubject {
        settings,
        caller: &tools.caller,
        project: project.as_deref(),
        target: target(&arguments.own),
        jobs: Vec::new(),
    };
    let options = CallOptions { progress: Arc::new(WaitProgress::new()), ..CallOptions::silent() };
    subject.announce();
    let wait = typed_answer::<WaitForCompletion>(tools.tool_call(arguments, options));
    let Some((completion, _)) = subject.interruptible(wait).await? else { return Ok(ExitStatus::TimedOut) };
    let result = WaitResult { completion, started: None, not_started: Vec::new() };

    Ok(result.output(&subject, junit, OutputFormat::from_matches(matches)).await)
}

/// Returns the arguments of the tool for what a user names: one id or name of any kind, or several ids of jobs.
async fn named_targets(
    resolver: NameResolver<'_>,
    names: impl ExactSizeIterator<Item = &String>,
) -> Result<Fields, Failure> {
    let is_single = names.len() == 1;
    let mut jobs = Vec::new();

    for name in names {
        // Several ids are ids of jobs, which need no look-up.
        if !is_single && is_uuid(name) {
            jobs.push(name.clone());
            continue;
        }

        let result = resolver.result(name, Latest::Start).await?;
        if is_single {
            return Ok(result.to_arguments());
        }
        if result.kind != ResultKind::Job {
            let message = format!("`{name}` is a {}; several ids must be ids of jobs", result.kind.noun());
            return Err(Failure::new(Code::InvalidArguments, message).hint("wait for one after the other"));
        }
        jobs.push(result.id);
    }

    Ok(Fields::from_iter([(JOBS.to_owned(), json!(jobs))]))
}

/// Returns what the arguments wait for. Invalid arguments are refused by the tool.
fn target(arguments: &Fields) -> WaitTarget {
    let single = ResultKind::ALL.into_iter().find_map(|kind| {
        let id = arguments.get(kind.argument())?.as_str()?;
        Some(ResultId::new(kind, id))
    });
    let jobs = arguments.get(JOBS).and_then(Value::as_array).into_iter().flatten();
    let jobs = jobs.filter_map(|id| id.as_str().map(str::to_owned)).collect();

    single.map_or(WaitTarget::Jobs(jobs), WaitTarget::Single)
}

fn tool() -> Tool {
    WaitForCompletion::tool()
}

/// Adapts the arguments of the tool to the command line: `--job-id` may be repeated, and the default of the time limit
/// is its maximum.
fn adapt_to_command_line(arguments: &mut Fields) {
    if arguments.get(JOB).is_some_and(Value::is_array)
        && let Some(jobs) = arguments.shift_remove(JOB)
    {
        arguments.insert(JOBS.to_owned(), jobs);
    }
    arguments.entry(TIMEOUT).or_insert(json!(MAX_TIMEOUT_S));
}
