//! `tas-mcp wait`: waits for jobs, a run or an execution. The exit status reports the verdicts.

use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::{
    calls::build_caller_with_files,
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    name_completion::{NameKind, name_completions},
    name_resolution::{Latest, NameResolver},
    tool_arguments::{self, read_arguments},
    waiting::{MAX_TIMEOUT_S, VerdictOutput, WaitSubject, junit_flag, options_with_progress},
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
        catalog::{ListedTool as _, typed_answer},
        composite::WaitForCompletion,
        waiting::WaitTarget,
    },
};

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
        let tool_command = tool_arguments::command(WaitForCompletion::tool().info);
        let ids = Arg::new(IDS).value_name("ID").num_args(1..).add(name_completions(NameKind::AnyResult));
        let flags = tool_command.get_arguments().filter(|flag| flag.get_id() != FIELDS).cloned();

        command
            .arg(ids.help("Id of a run, a job or an execution; or the name of a test or a plan: its latest start; or `latest`. Several ids of jobs"))
            .args(flags)
            .arg(junit_flag())
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
    let mut arguments = read_arguments(WaitForCompletion::tool().info, matches)?;
    let output = VerdictOutput::from_matches(matches)?;
    let project = arguments.common.project_id.clone();
    let tools = build_caller_with_files(settings)?;

    if let Some(names) = matches.get_many::<String>(IDS) {
        let resolver = NameResolver::new(&tools.caller, project.as_deref());
        arguments.own.extend(named_targets(resolver, names).await?);
    }

    // The flag `--job-id` may be repeated.
    let own = &mut arguments.own;
    if own.get(JOB).is_some_and(Value::is_array)
        && let Some(jobs) = own.shift_remove(JOB)
    {
        own.insert(JOBS.to_owned(), jobs);
    }
    own.entry(TIMEOUT).or_insert(json!(MAX_TIMEOUT_S));

    let subject = WaitSubject {
        settings,
        caller: &tools.caller,
        project: project.as_deref(),
        target: target(&arguments.own),
        jobs: Vec::new(),
        started: None,
        not_started: Vec::new(),
    };
    let wait = async {
        let call = tools.tool_call(arguments, options_with_progress());
        let (completion, _) = typed_answer::<WaitForCompletion>(call).await?;
        Ok(completion)
    };

    subject.finish(wait, output).await
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
