//! `tas-mcp stop`: stops runs, by any id or name.

use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use indexmap::IndexSet;
use serde_json::json;

use super::completions::result_names;
use crate::{
    call::arguments::{CommonArguments, ToolArguments},
    cli::{
        calls::{DryRunFlag, ask, build_caller, can_ask, show_request},
        columns::counted,
        exit_status::{CommandError, ExitStatus},
        help::help_end,
        name_resolution::NameResolver,
        output::{Output, OutputFlags},
        result_resolution::Latest,
        table::{Fit, Table},
        tool_arguments::ProjectFlag,
    },
    failure::{Code, Failure},
    service::{
        api::{
            jobs::{Job, ListJobs},
            runs::{StopRuns, StopRunsResponse},
        },
        catalog::ListedOperation as _,
        lenient::view,
        record_kind::{ResultId, ResultKind, ResultTarget},
    },
    settings::Settings,
    tools::found_result::FoundResult,
};

const NAMED_JOBS: usize = 3;

#[derive(Args)]
struct StopArguments {
    /// Id of a run, a job or an execution; or the name of a test or a plan: its latest start; or `latest`
    #[arg(value_name = "ID", num_args = 1.., required = true, add = result_names())]
    ids: Vec<String>,

    #[command(flatten)]
    project: ProjectFlag,

    #[command(flatten)]
    output: OutputFlags,

    #[command(flatten)]
    dry_run: DryRunFlag,

    /// Do not ask
    #[arg(long)]
    yes: bool,
}

pub(super) fn command() -> Command {
    let command = Command::new("stop")
        .about("Stops queued and running jobs with their runs")
        .after_help(help_end(&["tas-mcp stop JOB_ID", "tas-mcp stop latest --dry-run"], ExitStatus::HELP));

    StopArguments::augment_args(command)
}

pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = StopArguments::from_arg_matches(matches)?;
    let output = Output::from(arguments.output);
    let caller = build_caller(settings)?;
    let resolver = NameResolver::new(&caller, arguments.project.project_id.as_deref());
    let jobs = jobs(resolver, &arguments.ids).await?;
    let target = ResultTarget::Jobs(jobs.clone());
    let call = ToolArguments::new(target.to_arguments(), CommonArguments::in_project(resolver.project));
    if arguments.dry_run.dry_run {
        return show_request(&caller, StopRuns::entry(), call, &output).await;
    }
    if !arguments.yes {
        ask_first(resolver, &jobs).await?;
    }

    let reply = caller.call(StopRuns::entry(), call).await?;
    let outcome = reply.view::<StopRuns>();
    let is_complete = reply.value().get("ok") != Some(&json!(false));
    let status = if is_complete { ExitStatus::Success } else { ExitStatus::Rejected };

    output.print(status, reply.value(), || table(outcome))
}

/// Asks the user at the terminal, because the jobs may be those of others. Without a terminal nobody is asked: a script has named
/// what it wants.
async fn ask_first(resolver: NameResolver<'_>, jobs: &[String]) -> Result<(), CommandError> {
    if !can_ask() {
        return Ok(());
    }

    let mut names = Vec::new();
    for job in jobs.iter().take(NAMED_JOBS) {
        let id = ResultId::new(ResultKind::Job, job);
        let found = FoundResult::read(resolver.caller, resolver.project, id).await?;
        names.push(view::<Job>(&found.record).test_name.unwrap_or_else(|| job.clone()));
    }
    if jobs.len() > names.len() {
        names.push("...".to_owned());
    }

    ask(&format!("This stops {}: {}", counted(jobs.len(), "job"), names.join(", ")), Ok(()))
}

/// Returns the ids of the jobs of all named results, each once.
async fn jobs(resolver: NameResolver<'_>, names: &[String]) -> Result<Vec<String>, Failure> {
    let mut jobs = IndexSet::new();
    for name in names {
        let result = resolver.result(name, Latest::Start).await?;
        jobs.extend(unfinished_jobs(resolver, result).await?);
    }

    if jobs.is_empty() {
        let message = "nothing of this is queued or running";
        return Err(Failure::new(Code::Conflict, message).hint("`tas-mcp jobs` shows the state of jobs"));
    }

    Ok(jobs.into_iter().collect())
}

/// Returns the job that is meant, whatever its state, or the jobs of an execution that can be stopped.
async fn unfinished_jobs(resolver: NameResolver<'_>, result: ResultId) -> Result<Vec<String>, Failure> {
    match result.kind {
        ResultKind::Job => Ok(vec![result.id]),
        ResultKind::Run => {
            let found = FoundResult::find(resolver.caller, resolver.project, &result.id).await?;
            Ok(found.job_id().into_iter().collect())
        }
        ResultKind::Execution => {
            let jobs = resolver.newest_records(ListJobs::entry(), result.to_arguments()).await?.data;
            let jobs = jobs.iter().map(view::<Job>);
            let unfinished = jobs.filter(|job| !job.status.eq_ignore_ascii_case("completed"));
            Ok(unfinished.map(|job| job.job_id).filter(|id| !id.is_empty()).collect())
        }
    }
}

fn table(outcome: StopRunsResponse) -> Table {
    let mut table = Table::new(["job", "outcome"]).fitting([0], Fit::Whole);
    for row in outcome.results {
        let reason = row.message.filter(|_| !row.ok).or(row.error);
        let outcome = if row.ok { "stopped".to_owned() } else { reason.unwrap_or("not stopped".to_owned()) };
        table.add_row([row.job_id, outcome]);
    }

    table
}
