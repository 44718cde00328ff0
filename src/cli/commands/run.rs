//! `tas-mcp run`: starts a test or a plan. With `--wait` the exit status reports the verdicts.

mod devices;
mod start_reply;

use clap::{ArgMatches, Args, Command, FromArgMatches as _, value_parser};
use serde::Serialize;
use serde_json::json;
use serde_with::skip_serializing_none;

use self::{
    devices::{DeviceFlags, Devices, slot_advice},
    start_reply::StartReply,
};
use super::completions::startable_names;
use crate::{
    call::{Reply, ToolArguments},
    cli::{
        calls::{build_caller_with_files, call_with_confirmation},
        columns::counted,
        exit_status::{CommandError, ExitStatus},
        failure_output::FailureOutput,
        gate::GateFlags,
        help::help_end,
        name_resolution::NameResolver,
        named_arguments,
        output::note,
        tool_arguments::{ChangeFlags, fields},
        waiting::{VerdictOutput, WaitFlags, WaitSubject},
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{plans::StartTestPlanRun, runs::StartRun, tests::GetTest},
        arguments::is_uuid,
        record_kind::RecordKind,
    },
    settings::Settings,
    text::single_line,
    tools::{
        catalog::{ListedTool as _, Tool},
        context::CallerWithFiles,
        find::FoundRecord,
        project_client::ProjectClient,
    },
};

const EXAMPLES: [&str; 3] = [
    r#"tas-mcp run "Pause and resume" --device "Windows PC" --build latest"#,
    r#"tas-mcp run "Release smoke" --device "Windows PC" --wait --junit report.xml"#,
    r#"tas-mcp run "Cross-play party" --device CONFIG_ID --device 2=CONFIG_ID --device 3=CONFIG_ID"#,
];

// The names of the fields that are not skipped are those of the arguments of the tools.
#[skip_serializing_none]
#[derive(Args, Serialize)]
struct RunArguments {
    /// Name or id of the test or plan
    #[arg(value_name = "NAME", add = startable_names())]
    #[serde(skip)]
    subject: Option<String>,

    /// Task of a one-off test, in place of a saved one
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "subject")]
    instructions: Option<String>,

    /// Name of the one-off test
    #[arg(long, requires = "instructions")]
    name: Option<String>,

    #[command(flatten)]
    #[serde(skip)]
    devices: DeviceFlags,

    /// One run on each phone or tablet of the device; each is billed
    #[arg(long = "all-devices")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    run_on_all_configured_devices: bool,

    /// Number of runs of a test for each device, 1-10
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(1..=10))]
    instances: Option<u8>,

    /// Repetitions of a test after ERROR, TIMEOUT or STOPPED, 0-10. A plan sets those of its tests
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(0..=10))]
    retries: Option<u8>,

    /// Name or id of the AI player; `tas-mcp call list_agent_configs` lists them
    #[arg(long = "agent", value_name = "NAME")]
    agent_config_id: Option<String>,

    /// Tag for the runs; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    additional_tags: Vec<String>,

    #[command(flatten)]
    #[serde(skip)]
    wait: WaitFlags,

    #[command(flatten)]
    #[serde(skip)]
    gate: GateFlags,

    #[command(flatten)]
    #[serde(skip)]
    change: ChangeFlags,
}

/// Returns the definition of the command. Its flags are built only when the command is used.
pub(super) fn command() -> Command {
    Command::new("run")
        .about("Starts a test or a plan by name; with --wait the exit code reports the verdicts")
        .after_help(help_end(&EXAMPLES, ExitStatus::WAIT_HELP))
        .defer(|command| RunArguments::augment_args(command).arg_required_else_help(true))
}

pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = RunArguments::from_arg_matches(matches)?;
    arguments.wait.check(arguments.gate.given())?;
    let output = arguments.change.output();
    let verdicts = VerdictOutput::new(&arguments.wait.junit, output, FailureOutput::from_matches(matches))?
        .with_gate(&arguments.gate);

    let tools = build_caller_with_files(settings)?;
    tools.caller.check_writable(StartRun::tool().info)?;
    let resolver = NameResolver::new(&tools.caller, arguments.change.project());
    let start = Start::find(&arguments, resolver).await?;
    let reply = start.send(&tools, resolver).await?;
    if arguments.change.dry_run {
        return arguments.change.show(&reply);
    }

    // Without a named project, the answer to the start shows the project of the jobs.
    let project = arguments.change.project().or(reply.project());
    let answer = StartReply::new(reply.value());
    let subject = answer.target().map(|(target, jobs)| WaitSubject {
        jobs,
        started: Some(reply.value().clone()),
        not_started: answer.not_started(),
        chosen_build: answer.build_id().filter(|_| !start.devices.builds.contains_key(&None)),
        ..WaitSubject::new(settings, &tools.caller, project, target)
    });

    match subject {
        Ok(subject) if arguments.wait.wait => {
            note(start.line(&subject).trim_end());
            subject.finish(arguments.wait.timeout(), verdicts).await
        }
        Ok(subject) => {
            let status = output.print(ExitStatus::Success, reply.value(), || start.line(&subject))?;
            subject.announce().await;
            Ok(status)
        }
        Err(failure) if arguments.wait.wait => {
            let hint = "`tas-mcp jobs` shows the jobs that were started, if any";
            Err(failure.detail("started", reply.value().clone()).hint(hint).into())
        }
        Err(_) => arguments.change.show(&reply),
    }
}

/// What is started, and where.
struct Start<'a> {
    arguments: &'a RunArguments,
    tool: Tool,
    /// The arguments of the tool, without devices and builds.
    own: Fields,
    /// Name of the test or plan.
    name: String,
    /// Id of the plan; `None` for a test.
    plan: Option<String>,
    devices: Devices,
}

impl<'a> Start<'a> {
    async fn find(arguments: &'a RunArguments, resolver: NameResolver<'_>) -> Result<Self, CommandError> {
        let mut own = fields(arguments)?;
        let subject = match &arguments.subject {
            Some(name) => Some(find_startable(resolver, name).await?),
            None if arguments.instructions.is_some() => None,
            None => {
                return Err(Failure::new(Code::InvalidArguments, "which test or plan is to be started?")
                    .hint("name it: `tas-mcp run NAME`; `tas-mcp tests` and `tas-mcp plans` list them")
                    .into());
            }
        };
        let plan = subject.as_ref().filter(|found| found.kind == RecordKind::TestPlan);
        let plan = plan.map(|found| found.id.clone());
        if plan.is_some() && (arguments.instances.or(arguments.retries)).is_some() {
            let message = "`--instances` and `--retries` are for a test, and this is a plan";
            return Err(Failure::new(Code::InvalidArguments, message).hint("nothing was sent").into());
        }

        if let Some(found) = &subject {
            let argument = if plan.is_some() { "test_plan_id" } else { "multiplayer_test_id" };
            own.insert(argument.to_owned(), json!(found.id));
        }
        let devices = Devices::from_flags(&arguments.devices, plan.is_some())?;
        let tool = if plan.is_some() { StartTestPlanRun::tool() } else { StartRun::tool() };
        let name = subject.map_or_else(|| "one-off test".to_owned(), |found| found.name);

        Ok(Self { arguments, tool, own, name, plan, devices })
    }

    /// Starts it, after the user has agreed to what it costs.
    async fn send(&self, tools: &CallerWithFiles, resolver: NameResolver<'_>) -> Result<Reply, CommandError> {
        let own = self.arguments(resolver).await?;
        let call = ToolArguments::new(own.clone(), self.arguments.change.common());

        match call_with_confirmation(tools, self.tool, call).await {
            Err(CommandError::Failures(failures)) => Err(self.explained(failures, &own, resolver).await),
            reply => reply,
        }
    }

    /// Returns the arguments of the tool, in which ids stand for names. Asks for a device that is missing.
    async fn arguments(&self, resolver: NameResolver<'_>) -> Result<Fields, CommandError> {
        let (mut own, mut devices) = (self.own.clone(), self.devices.clone());
        devices.complete(resolver, self.plan.as_deref()).await?;
        let by_number =
            if self.plan.is_some() { "slot_deployment_configs" } else { "player_deployment_configs" };
        devices.add_to(&mut own, by_number);
        named_arguments::resolve(resolver, self.tool.info, &mut own).await?;

        Ok(own)
    }

    /// Returns the failures with names in place of the ids that the user has not typed, and with the devices that a plan needs.
    async fn explained(
        &self,
        failures: Vec<Failure>,
        own: &Fields,
        resolver: NameResolver<'_>,
    ) -> CommandError {
        let is_refused = failures.iter().any(|failure| failure.code == Code::Rejected);
        let advice = match self.plan.as_deref().filter(|_| is_refused && self.devices.devices.len() < 2) {
            Some(plan) => slot_advice(resolver, plan).await,
            None => None,
        };
        let names = [
            ("multiplayer_test_id", Some(&self.name)),
            ("test_plan_id", Some(&self.name)),
            ("deployment_config_id", self.devices.devices.get(&None)),
        ];
        let names = names.map(|(argument, name)| Some((own.get(argument)?.as_str()?, name?)));

        let explain = |failure: Failure| {
            let names = names.iter().flatten();
            let message = names.fold(failure.message, |text, (id, name)| text.replace(id, name));
            let failure = Failure { message, ..failure };
            match &advice {
                Some(advice) if failure.code == Code::Rejected => failure.hint(advice.clone()),
                _ => failure,
            }
        };
        CommandError::Failures(failures.into_iter().map(explain).collect())
    }

    fn line(&self, subject: &WaitSubject<'_>) -> String {
        let device = self.devices.devices.get(&None).map(|name| format!(" on {name}")).unwrap_or_default();
        let jobs = match subject.known_jobs() {
            [] => String::new(),
            [job] => format!(": job {job}"),
            jobs => format!(": {}", counted(jobs.len(), "job")),
        };
        format!("started {}{device}{jobs}\n", single_line(&self.name))
    }
}

async fn find_startable(resolver: NameResolver<'_>, name: &str) -> Result<FoundRecord, Failure> {
    if !is_uuid(name) {
        return Ok(resolver.record_of(&[RecordKind::TestPlan, RecordKind::Test], name).await?.0);
    }

    let test = GetTest::newest(name.to_owned());
    let client =
        ProjectClient { caller: resolver.caller.clone(), project: resolver.project.map(str::to_owned) };
    match client.call(&test).await {
        Ok(test) => {
            let found = FoundRecord::with_id(RecordKind::Test, name);
            Ok(FoundRecord { name: test.view::<GetTest>().name, ..found })
        }
        Err(failure) if failure.code == Code::NotFound => Ok(FoundRecord {
            name: format!("plan {name}"),
            ..FoundRecord::with_id(RecordKind::TestPlan, name)
        }),
        Err(failure) => Err(failure),
    }
}
