//! `tas-mcp wait`: waits for jobs, a run or an execution. The exit status reports the verdicts.

use std::time::Duration;

use clap::{ArgMatches, Args, Command, FromArgMatches as _, value_parser};

use super::{
    calls::build_caller,
    completions::result_names,
    exit_status::{CommandError, ExitStatus},
    failure_output::FailureOutput,
    gate::GateFlags,
    help::help_end,
    name_resolution::NameResolver,
    output::{Output, OutputFlags},
    result_resolution::Latest,
    tool_arguments::ProjectFlag,
    waiting::{JunitFlag, MAX_TIMEOUT_S, VerdictOutput, WaitSubject, options_with_progress},
};
use crate::{
    failure::{Code, Failure},
    service::record_kind::{ResultId, ResultKind, ResultTarget},
    settings::Settings,
    tools::waiting::Wait,
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
    #[arg(long, alias = "job_id")]
    job_id: Vec<String>,

    #[arg(long, alias = "job_ids", hide = true)]
    job_ids: Vec<String>,

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

/// Waits and prints the verdicts.
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

    let wait = Wait {
        target: target.clone(),
        expected_jobs: Vec::new(),
        project: project.map(str::to_owned),
        timeout: Duration::from_secs(arguments.timeout_seconds),
        interval: arguments.poll_interval_seconds.map(Duration::from_secs),
    };
    let subject = WaitSubject {
        settings,
        caller: &caller,
        project,
        target,
        jobs: Vec::new(),
        started: None,
        not_started: Vec::new(),
    };
    let completion = async { wait.run(&caller, &options_with_progress()).await };

    subject.finish(completion, output).await
}

async fn target(resolver: NameResolver<'_>, arguments: &WaitArguments) -> Result<ResultTarget, Failure> {
    let jobs = [&arguments.job_id[..], &arguments.job_ids].concat();
    let is_given = [
        !arguments.ids.is_empty(),
        !jobs.is_empty(),
        arguments.run_id.is_some(),
        arguments.test_plan_execution_id.is_some(),
    ];
    if is_given.into_iter().filter(|is_given| *is_given).count() != 1 {
        let message =
            "exactly one of an id or name, `--job-id`, `--run-id` and `--test-plan-execution-id` is needed";
        return Err(Failure::new(Code::InvalidArguments, message).hint("nothing was sent"));
    }

    let single = |kind, id: &String| ResultTarget::Single(ResultId::new(kind, id));
    if let Some(run) = &arguments.run_id {
        return Ok(single(ResultKind::Run, run));
    }
    if let Some(execution) = &arguments.test_plan_execution_id {
        return Ok(single(ResultKind::Execution, execution));
    }

    match jobs.as_slice() {
        [] => match arguments.ids.as_slice() {
            [name] => resolver.result(name, Latest::Start).await.map(ResultTarget::Single),
            names => resolver.several_jobs(names).await.map(ResultTarget::Jobs),
        },
        [job] => Ok(single(ResultKind::Job, job)),
        jobs => Ok(ResultTarget::Jobs(jobs.to_vec())),
    }
}
