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
    service::record_kind::ResultTarget,
    settings::Settings,
};

const EXAMPLES: [&str; 2] = ["tas-mcp wait JOB_ID JOB_ID", "tas-mcp wait EXECUTION_ID --junit report.xml"];

#[derive(Args)]
struct WaitArguments {
    /// Id of a run, a job or an execution; or the name of a test or a plan: its latest start; or `latest`. Several ids of jobs
    #[arg(value_name = "ID", required = true, num_args = 1.., add = result_names())]
    ids: Vec<String>,

    /// Maximum time to wait, 1-7200
    #[arg(long, alias = "timeout_seconds", value_name = "N", default_value_t = MAX_TIMEOUT_S)]
    #[arg(value_parser = value_parser!(u64).range(1..=MAX_TIMEOUT_S))]
    timeout_seconds: u64,

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
    let resolver = NameResolver::new(&caller, project);
    let target = match arguments.ids.as_slice() {
        [name] => ResultTarget::Single(resolver.result(name, Latest::Start).await?),
        ids => ResultTarget::Jobs(resolver.several_jobs(ids).await?),
    };

    let timeout = Duration::from_secs(arguments.timeout_seconds);
    WaitSubject::new(settings, &caller, project, target).finish(timeout, output).await
}
