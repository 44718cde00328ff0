//! `tas-mcp wait`: waits for jobs, a run or an execution. The exit status reports the verdicts.

use std::time::Duration;

use clap::{ArgMatches, Args, Command, FromArgMatches as _, value_parser};

use super::completions::result_names;
use crate::{
    cli::{
        calls::build_caller,
        exit_status::{CommandError, ExitStatus},
        failure_output::FailureOutput,
        gate::GateFlags,
        help::help_end,
        name_resolution::NameResolver,
        output::{Output, OutputFlags},
        result_resolution::Latest,
        tool_arguments::ProjectFlag,
        waiting::{JunitFlag, MAX_TIMEOUT_S, VerdictOutput, WaitSubject},
    },
    failure::{Code, Failure},
    service::record_kind::{ResultId, ResultKind, ResultTarget},
    settings::Settings,
};

const EXAMPLES: [&str; 2] =
    ["tas-mcp wait JOB_ID JOB_ID", "tas-mcp wait --test-plan-execution-id EXECUTION_ID --junit report.xml"];

#[derive(Args)]
struct WaitArguments {
    #[arg(value_name = "ID", num_args = 1.., add = result_names())]
    #[arg(
        help = "Id of a run, a job or an execution; or the name of a test or a plan: its latest start; or `latest`. Several ids of jobs"
    )]
    ids: Vec<String>,

    /// Job id from a start; may be repeated
    #[arg(long, aliases = ["job_id", "job-ids", "job_ids"])]
    job_id: Vec<String>,

    /// Run id, instead of a job
    #[arg(long, alias = "run_id")]
    run_id: Option<String>,

    /// Execution id from the start of a plan, instead of a job
    #[arg(long, alias = "test_plan_execution_id")]
    test_plan_execution_id: Option<String>,

    /// Maximum time to wait, 1-7200
    #[arg(long, alias = "timeout_seconds", value_name = "N", default_value_t = MAX_TIMEOUT_S)]
    #[arg(value_parser = value_parser!(u64).range(1..=MAX_TIMEOUT_S))]
    timeout_seconds: u64,

    /// Time between two requests, 1-300. Default: rises from 1 to 30
    #[arg(long, alias = "poll_interval_seconds", value_name = "N", value_parser = value_parser!(u64).range(1..=300))]
    poll_interval_seconds: Option<u64>,

    #[command(flatten)]
    junit: JunitFlag,

    #[command(flatten)]
    gate: GateFlags,

    #[command(flatten)]
    output: OutputFlags,

    #[command(flatten)]
    project: ProjectFlag,
}

pub(super) fn command() -> Command {
    let command = Command::new("wait")
        .about("Waits until jobs, a run or a plan execution have finished, and prints the verdicts")
        .after_help(help_end(&EXAMPLES, ExitStatus::WAIT_HELP));

    WaitArguments::augment_args(command)
}

pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = WaitArguments::from_arg_matches(matches)?;
    let output = VerdictOutput::new(
        &arguments.junit,
        Output::from(arguments.output),
        FailureOutput::from_matches(matches),
    )?
    .with_gate(&arguments.gate);
    let caller = build_caller(settings)?;
    let project = arguments.project.project_id.as_deref();
    let target = target(NameResolver::new(&caller, project), &arguments).await?;

    let timeout = Duration::from_secs(arguments.timeout_seconds);
    let interval = arguments.poll_interval_seconds.map(Duration::from_secs);
    WaitSubject::new(settings, &caller, project, target).finish(timeout, interval, output).await
}

async fn target(resolver: NameResolver<'_>, arguments: &WaitArguments) -> Result<ResultTarget, Failure> {
    let single = |kind, id: &String| Ok(ResultTarget::Single(ResultId::new(kind, id)));
    let WaitArguments { ids, job_id, run_id, test_plan_execution_id, .. } = arguments;

    match (ids.as_slice(), job_id.as_slice(), run_id, test_plan_execution_id) {
        ([name], [], None, None) => resolver.result(name, Latest::Start).await.map(ResultTarget::Single),
        ([_, ..], [], None, None) => resolver.several_jobs(ids).await.map(ResultTarget::Jobs),
        ([], [job], None, None) => single(ResultKind::Job, job),
        ([], [_, ..], None, None) => Ok(ResultTarget::Jobs(job_id.clone())),
        ([], [], Some(run), None) => single(ResultKind::Run, run),
        ([], [], None, Some(execution)) => single(ResultKind::Execution, execution),
        _ => {
            let message = "exactly one of an id or name, `--job-id`, `--run-id` and `--test-plan-execution-id` is needed";
            Err(Failure::new(Code::InvalidArguments, message).hint("nothing was sent"))
        }
    }
}
