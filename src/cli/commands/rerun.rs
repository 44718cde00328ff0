//! `tas-mcp rerun`: starts again what did not pass, nothing twice, and waits for it on request.

use std::time::Duration;

use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use serde_json::Value;

use crate::{
    call::{Caller, CommonArguments, ToolArguments},
    cli::{
        calls::{build_caller, confirm},
        exit_status::{CommandError, ExitStatus},
        failure_output::FailureOutput,
        gate::GateFlags,
        help::help_end,
        name_resolution::NameResolver,
        named_arguments::choose_build,
        output::note,
        result_resolution::Latest,
        table::{Fit, Table},
        tool_arguments::ChangeFlags,
        waiting::{NotStarted, VerdictOutput, WaitFlags, WaitSubject},
    },
    failure::{Code, Failure},
    fields::{Fields, text_at},
    service::{
        arguments::is_uuid,
        record_kind::{RecordKind, ResultId, ResultKind, ResultTarget},
    },
    settings::Settings,
    tools::{
        project_client::ProjectClient,
        rerun::{MAX_STARTS, Rerun, RerunRequest, RerunSelection, RerunTest},
    },
};

const EXAMPLES: [&str; 3] = [
    "tas-mcp rerun latest --dry-run",
    r#"tas-mcp rerun "Release smoke" --failed --device "Windows PC" --wait --junit report.xml"#,
    r#"tas-mcp rerun EXECUTION_ID --flaky --device "Android phones""#,
];

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
struct RerunArguments {
    /// Id of a run, a job or an execution; or the name of a test or a plan: its latest result; or `latest`
    #[arg(value_name = "ID")]
    id: String,

    /// Only what ended in ERROR, TIMEOUT or STOPPED, or was not run at all. This is the default
    #[arg(long, conflicts_with_all = ["failed", "flaky", "all"])]
    infrastructure: bool,

    /// Everything that neither passed nor was skipped
    #[arg(long, conflicts_with_all = ["flaky", "all"])]
    failed: bool,

    /// Only what passed after a retry
    #[arg(long, conflicts_with = "all")]
    flaky: bool,

    /// Everything, also what has passed
    #[arg(long)]
    all: bool,

    /// Name or id of the device. Default: that of each run, if only one fits
    #[arg(long, value_name = "NAME")]
    device: Option<String>,

    /// Name, words of the name or id of the build, or `latest`. Default: that of each run
    #[arg(long, value_name = "NAME")]
    build: Option<String>,

    /// Name or id of the AI player. Default: the service chooses
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    #[command(flatten)]
    wait: WaitFlags,

    #[command(flatten)]
    gate: GateFlags,

    #[command(flatten)]
    change: ChangeFlags,
}

pub(super) fn command() -> Command {
    let command = Command::new("rerun")
        .about("Starts again what did not pass in a run, a job or a plan execution, and nothing twice")
        .after_help(help_end(&EXAMPLES, ExitStatus::WAIT_HELP));

    RerunArguments::augment_args(command)
}

pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = RerunArguments::from_arg_matches(matches)?;
    arguments.wait.check(arguments.gate.given())?;
    let output = arguments.change.output();
    let verdicts = VerdictOutput::new(&arguments.wait.junit, output, FailureOutput::from_matches(matches))?
        .with_gate(&arguments.gate);

    let caller = build_caller(settings)?;
    let resolver = NameResolver::new(&caller, arguments.change.project());
    let request = arguments.request(resolver).await?;
    let rerun = start(&caller, request).await?;

    if arguments.wait.wait && !rerun.job_ids.is_empty() {
        return wait(settings, &caller, &rerun, arguments.wait.timeout(), verdicts).await;
    }
    if rerun.tests.is_empty() {
        note("nothing to start again; `--failed`, `--flaky` and `--all` select other tests");
    }
    let has_error = rerun.tests.iter().any(|test| test.error.is_some());
    let status = if has_error { ExitStatus::Rejected } else { ExitStatus::Success };

    output.print(status, &rerun, || table(&rerun.tests))
}

impl RerunArguments {
    fn selection(&self) -> RerunSelection {
        match (self.failed, self.flaky, self.all) {
            (true, ..) => RerunSelection::Failed,
            (_, true, _) => RerunSelection::Flaky,
            (.., true) => RerunSelection::All,
            _ => RerunSelection::Infrastructure,
        }
    }

    /// Returns the request, in which ids stand for names.
    async fn request(&self, resolver: NameResolver<'_>) -> Result<RerunRequest, Failure> {
        let build = match self.build.as_deref() {
            Some(name) if !is_uuid(name) => Some(choose_build(resolver, name, None).await?.id),
            build => build.map(str::to_owned),
        };
        let device = match &self.device {
            Some(name) => Some(resolver.id(RecordKind::DeploymentConfig, name).await?),
            None => None,
        };
        let agent = match &self.agent {
            Some(name) => Some(resolver.id(RecordKind::AgentConfig, name).await?),
            None => None,
        };

        Ok(RerunRequest {
            client: ProjectClient {
                caller: resolver.caller.clone(),
                project: resolver.project.map(str::to_owned),
            },
            source: resolver.result(&self.id, Latest::Result).await?,
            selection: self.selection(),
            device,
            build,
            agent,
            is_dry_run: self.change.dry_run,
            is_confirmed: self.change.yes,
            // `--yes` agrees to as many as one call starts.
            max_starts: self.change.yes.then_some(MAX_STARTS),
        })
    }
}

/// Starts the tests. Asks the user at the terminal about many starts.
async fn start(caller: &Caller, request: RerunRequest) -> Result<Rerun, CommandError> {
    let is_device_known = request.device.is_some();
    let asked = request.clone();

    match request.run().await {
        Err(failure) if failure.code == Code::ConfirmationRequired => {
            let agreed =
                failure.details.get("agreement").and_then(|agreed| agreed.get("max_starts")?.as_u64());
            let max_starts = agreed.and_then(|count| usize::try_from(count).ok());
            confirm(caller, &ToolArguments::new(Fields::new(), CommonArguments::default()), failure).await?;
            let agreed = RerunRequest { is_confirmed: true, max_starts, ..asked };
            Ok(agreed.run().await?)
        }
        Err(failure) if failure.code == Code::InvalidArguments && !is_device_known => {
            let message = "the device is not known: a run names the machine only; the devices are";
            let devices = failure.details.get("devices").and_then(Value::as_array).into_iter().flatten();
            let mut unknown =
                Failure::new(failure.code, message).hint("name one with `--device`; nothing was started");
            unknown.facts.choices =
                devices.filter_map(|device| text_at(device, "name")).map(str::to_owned).collect();
            Err(unknown.into())
        }
        outcome => Ok(outcome?),
    }
}

async fn wait(
    settings: &Settings,
    caller: &Caller,
    rerun: &Rerun,
    timeout: Duration,
    output: VerdictOutput,
) -> Result<ExitStatus, CommandError> {
    let target = match rerun.job_ids.as_slice() {
        [job] => ResultTarget::Single(ResultId::new(ResultKind::Job, job)),
        jobs => ResultTarget::Jobs(jobs.to_vec()),
    };
    let not_started = rerun
        .tests
        .iter()
        .filter_map(|test| Some(NotStarted { device: test.name.clone(), reason: test.error.clone()? }));
    let subject = WaitSubject {
        not_started: not_started.collect(),
        ..WaitSubject::new(settings, caller, rerun.project_id.as_deref(), target)
    };

    subject.finish(timeout, output).await
}

fn table(tests: &[RerunTest]) -> Table {
    let mut table = Table::new(["verdict", "test", "device", "outcome"]).fitting([0], Fit::Whole);
    for test in tests {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let jobs = test.job_ids.join(" ");
        let outcome = match (&test.error, &test.request) {
            (Some(error), _) => error.clone(),
            (None, Some(_)) => "would be started".to_owned(),
            (None, None) if test.already_started => format!("started before: {jobs}"),
            (None, None) => format!("started: {jobs}"),
        };
        table.add_row([text(&test.verdict), test.name.clone(), text(&test.device), outcome]);
    }

    table
}
