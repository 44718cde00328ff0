//! `tas-mcp stop`: stops runs, by any id or name.

use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use indexmap::IndexMap;
use serde_json::json;

use super::completions::result_names;
use crate::{
    call::ToolArguments,
    cli::{
        calls::{build_caller_with_files, call_with_confirmation},
        exit_status::{CommandError, ExitStatus},
        help::help_end,
        name_resolution::NameResolver,
        result_resolution::Latest,
        table::{Fit, Table},
        tool_arguments::ChangeFlags,
    },
    failure::{Code, Failure},
    fields::text_at,
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
    tools::catalog::ListedTool as _,
};

#[derive(Args)]
struct StopArguments {
    /// Id of a run, a job or an execution; or the name of a test or a plan: its latest start; or `latest`
    #[arg(value_name = "ID", num_args = 1.., required = true, add = result_names())]
    ids: Vec<String>,

    #[command(flatten)]
    change: ChangeFlags,
}

/// The names of the tests by the ids of their jobs.
type Jobs = IndexMap<String, String>;

pub(super) fn command() -> Command {
    let command = Command::new("stop")
        .about("Stops queued and running jobs with their runs")
        .after_help(help_end(&["tas-mcp stop JOB_ID", "tas-mcp stop latest --dry-run"], ExitStatus::HELP));

    StopArguments::augment_args(command)
}

/// Stops the jobs, after the user has agreed: they may be those of others.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let StopArguments { ids, change } = StopArguments::from_arg_matches(matches)?;
    let tools = build_caller_with_files(settings)?;
    tools.caller.check_writable(&StopRuns::entry().tool)?;
    let jobs = jobs(NameResolver::new(&tools.caller, change.project()), &ids).await?;
    let target = ResultTarget::Jobs(jobs.keys().cloned().collect());
    let call = ToolArguments::new(target.to_arguments(), change.common());
    let reply = call_with_confirmation(&tools, StopRuns::tool(), call).await?;
    if change.dry_run {
        return change.show(&reply);
    }

    let is_complete = reply.value().get("ok") != Some(&json!(false));
    let status = if is_complete { ExitStatus::Success } else { ExitStatus::Rejected };
    change.output().print(status, reply.value(), || table(reply.view::<StopRuns>(), &jobs))
}

async fn jobs(resolver: NameResolver<'_>, names: &[String]) -> Result<Jobs, Failure> {
    let mut jobs = Jobs::new();
    for name in names {
        let result = resolver.result(name, Latest::Start).await?;
        jobs.extend(unfinished_jobs(resolver, result).await?);
    }

    if jobs.is_empty() {
        let message = "nothing of this is queued or running";
        return Err(Failure::new(Code::Conflict, message).hint("`tas-mcp jobs` shows the state of jobs"));
    }

    Ok(jobs)
}

/// Returns the job that is meant, whatever its state, or the jobs of an execution that can be stopped.
async fn unfinished_jobs(resolver: NameResolver<'_>, result: ResultId) -> Result<Jobs, Failure> {
    let job = match result.kind {
        ResultKind::Job => Some(result.id),
        ResultKind::Run => {
            let run = resolver.reader().find_result(&result.id).await?.record;
            text_at(&run, "job_id").map(str::to_owned)
        }
        ResultKind::Execution => {
            let jobs = resolver.newest_records(ListJobs::entry(), result.to_arguments()).await?.data;
            let jobs = jobs.iter().map(view::<Job>);
            let unfinished = jobs.filter(|job| !job.status.eq_ignore_ascii_case("completed"));
            return Ok(unfinished.filter(|job| !job.job_id.is_empty()).map(named).collect());
        }
    };

    let Some(job) = job else { return Ok(Jobs::new()) };
    let id = ResultId::new(ResultKind::Job, job);
    let found = resolver.reader().read_result(id).await?;
    Ok(Jobs::from([named(view(&found.record))]))
}

fn named(job: Job) -> (String, String) {
    (job.job_id, job.test_name.unwrap_or_default())
}

fn table(outcome: StopRunsResponse, jobs: &Jobs) -> Table {
    let mut table = Table::new(["test", "outcome", "job"]).fitting([1], Fit::Whole).fitting([2], Fit::Id);
    for row in outcome.results {
        let reason = row.message.filter(|_| !row.ok).or(row.error);
        let outcome = if row.ok { "stopped".to_owned() } else { reason.unwrap_or("not stopped".to_owned()) };
        table.add_row([jobs.get(&row.job_id).cloned().unwrap_or_default(), outcome, row.job_id]);
    }

    table
}
