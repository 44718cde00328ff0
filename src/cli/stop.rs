//! `tas-mcp stop`: stops runs, by any id or name.

use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use serde_json::{Value, json};

use super::{
    calls::build_caller,
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    name_completion::{NameKind, name_completions},
    name_resolution::{Latest, NameResolver, jobs_of},
    output::{JsonFlag, print_line, print_table, prints_json, status_after_output},
    reply_output::plain_text,
    table::Table,
    tool_arguments::ProjectFlag,
};
use crate::{
    call::{
        Caller,
        arguments::{CommonArguments, ToolArguments},
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{api::runs::StopRuns, catalog::ListedOperation as _},
    settings::Settings,
    tools::waiting::WaitTarget,
};

#[derive(Args)]
struct StopArguments {
    /// Id of a run, a job or an execution; or the name of a test or a plan: its latest start; or `latest`
    #[arg(value_name = "ID", num_args = 1.., required = true, add = name_completions(NameKind::AnyResult))]
    ids: Vec<String>,

    #[command(flatten)]
    project: ProjectFlag,

    #[command(flatten)]
    output: JsonFlag,
}

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let command = Command::new("stop")
        .about("Stops queued and running jobs with their runs")
        .after_help(help_end(&["tas-mcp stop JOB_ID"], ExitStatus::HELP));

    StopArguments::augment_args(command)
}

/// Stops the jobs and prints the outcome of each.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = StopArguments::from_arg_matches(matches)?;
    let project = arguments.project.project_id.as_deref();
    let caller = build_caller(settings)?;
    let jobs = jobs(&caller, project, &arguments.ids).await?;

    let own = Fields::from_iter([("job_ids".to_owned(), json!(jobs))]);
    let call = ToolArguments::new(own, CommonArguments::in_project(project));
    let reply = caller.call_guarded(StopRuns::entry(), call).await?;

    let printed = if prints_json(arguments.output.json) {
        print_line(reply.value())
    } else {
        print_table(table(reply.value()))
    };
    let is_complete = reply.value().get("ok") != Some(&Value::Bool(false));
    let status = if is_complete { ExitStatus::Success } else { ExitStatus::Rejected };

    Ok(status_after_output(status, printed))
}

/// Returns the ids of the jobs of all named results, each once.
async fn jobs(caller: &Caller, project: Option<&str>, names: &[String]) -> Result<Vec<String>, Failure> {
    let resolver = NameResolver::new(caller, project);
    let mut jobs = Vec::new();
    for name in names {
        let target = WaitTarget::Single(resolver.result(name, Latest::Start).await?);
        for job in jobs_of(caller, project, &target, &[]).await? {
            if !jobs.contains(&job) {
                jobs.push(job);
            }
        }
    }

    if jobs.is_empty() {
        let message = "nothing of this is queued or running";
        return Err(Failure::new(Code::Conflict, message).hint("`tas-mcp jobs` shows the state of jobs"));
    }

    Ok(jobs)
}

/// Returns a row for each job.
fn table(reply: &Value) -> Table {
    let mut table = Table::new(["job", "outcome"]);
    table.keep_whole(0);
    table.keep_whole(1);

    for row in reply.get("results").and_then(Value::as_array).into_iter().flatten() {
        let text = |name: &str| row.get(name).map(plain_text).filter(|text| !text.is_empty());
        let is_stopped = row.get("ok") != Some(&Value::Bool(false));
        let reason = text("message").or_else(|| text("error"));
        let outcome =
            if is_stopped { "stopped".to_owned() } else { reason.unwrap_or("not stopped".to_owned()) };
        table.add_row([text("job_id").unwrap_or_default(), outcome]);
    }

    table
}
