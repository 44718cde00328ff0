//! `tas-mcp run`: starts a test or a plan. With `--wait` the exit status reports the verdicts.

mod devices;
mod start_reply;

use clap::{ArgMatches, Args, Command, FromArgMatches as _, Subcommand, value_parser};
use serde::Serialize;
use serde_json::Value;
use serde_with::skip_serializing_none;

use self::{
    devices::{DeviceFlags, Devices, slot_advice},
    start_reply::StartReply,
};
use super::completions::{plan_names, test_names};
use crate::{
    call::{
        arguments::{CommonArguments, ToolArguments},
        reply::Reply,
    },
    cli::{
        calls::{ask_before_cost, build_caller_with_files, call_with_confirmation},
        exit_status::{CommandError, ExitStatus},
        failure_output::FailureOutput,
        gate::GateFlags,
        help::{arranged, help_end},
        name_resolution::NameResolver,
        named_arguments,
        output::{Output, OutputFlags, note},
        tool_arguments::{ProjectFlag, fields},
        waiting::{VerdictOutput, WaitFlags, WaitSubject},
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{plans::StartTestPlanRun, runs::StartRun},
        operation::Operation as _,
    },
    settings::Settings,
    tools::{
        catalog::{ListedTool as _, Tool},
        context::CallerWithFiles,
    },
};

const EXAMPLES: [&str; 2] = [TEST_EXAMPLES[0], PLAN_EXAMPLES[0]];
const TEST_EXAMPLES: [&str; 2] = [
    r#"tas-mcp run test "Pause and resume" --device "Windows PC" --build latest"#,
    r#"tas-mcp run test "Pause and resume" --device "Windows PC" --wait --junit report.xml"#,
];
const PLAN_EXAMPLES: [&str; 2] = [
    r#"tas-mcp run plan "Release smoke" --device "Windows PC" --wait --junit report.xml"#,
    r#"tas-mcp run plan "Cross-play party" --device CONFIG_ID --device 2=CONFIG_ID --device 3=CONFIG_ID"#,
];

#[derive(Args)]
struct RunArguments {
    #[command(flatten)]
    wait: WaitFlags,

    #[command(flatten)]
    gate: GateFlags,

    #[command(subcommand)]
    subject: Subject,
}

#[derive(Subcommand)]
enum Subject {
    /// Starts a saved test, or a task in words
    #[command(after_help = help_end(&TEST_EXAMPLES, ExitStatus::WAIT_HELP))]
    Test(Box<TestArguments>),
    /// Starts a test plan
    #[command(after_help = help_end(&PLAN_EXAMPLES, ExitStatus::WAIT_HELP))]
    Plan(Box<PlanArguments>),
}

#[skip_serializing_none]
#[derive(Args, Serialize)]
struct TestArguments {
    /// Name or id of the test
    #[arg(value_name = "TEST", add = test_names())]
    #[serde(rename = "multiplayer_test_id")]
    test: Option<String>,

    /// Task of a one-off test, in place of a saved one
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    instructions: Option<String>,

    /// Name of the one-off test
    #[arg(long, requires = "instructions")]
    name: Option<String>,

    /// Repetitions after ERROR, TIMEOUT or STOPPED, 0-10
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(0..=10))]
    retries: Option<u8>,

    /// Number of runs for each device, 1-10
    #[arg(long, value_name = "N", value_parser = value_parser!(u8).range(1..=10))]
    instances: Option<u8>,

    #[command(flatten)]
    #[serde(flatten)]
    start: StartFlags,
}

#[skip_serializing_none]
#[derive(Args, Serialize)]
struct PlanArguments {
    /// Name or id of the plan
    #[arg(value_name = "PLAN", add = plan_names())]
    #[serde(rename = "test_plan_id")]
    plan: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    start: StartFlags,
}

// What both starts have. The names of the fields are those of the arguments of the tools.
#[skip_serializing_none]
#[derive(Args, Serialize)]
struct StartFlags {
    #[command(flatten)]
    #[serde(skip)]
    devices: DeviceFlags,

    #[arg(long = "agent", value_name = "NAME", help = "Name or id of the AI player")]
    agent_config_id: Option<String>,

    #[arg(long = "tag", value_name = "TAG", help = "Tag for the runs; may be repeated")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    additional_tags: Vec<String>,

    #[arg(long = "all-devices", alias = "run-on-all-configured-devices", hide_possible_values = true)]
    #[arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[arg(help = "One run on each phone or tablet of the device; each is billed")]
    run_on_all_configured_devices: Option<bool>,

    #[command(flatten)]
    #[serde(skip)]
    project: ProjectFlag,

    #[command(flatten)]
    #[serde(skip)]
    output: OutputFlags,

    #[arg(long, help = "Show the request, and start nothing")]
    #[serde(skip)]
    dry_run: bool,

    #[arg(long, help = "Do not ask for confirmation; a person has accepted the cost")]
    #[serde(skip)]
    yes: bool,
}

/// Returns the definition of the command. Its subcommands are built only when the command is used.
pub(super) fn command() -> Command {
    let about = "Starts a test or a plan by name; with --wait the exit code reports the verdicts";
    Command::new("run").about(about).after_help(help_end(&EXAMPLES, ExitStatus::WAIT_HELP)).defer(|command| {
        let command = RunArguments::augment_args(command).mut_subcommands(arranged);
        command.subcommand_value_name("test|plan").arg_required_else_help(true)
    })
}

/// Starts the test or plan. With `--wait`, waits for it and prints the verdicts.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = RunArguments::from_arg_matches(matches)?;
    arguments.wait.check(arguments.gate.given())?;
    let start = Start::new(arguments.subject)?;
    let output = Output::from(start.flags.output);
    let verdicts = VerdictOutput::new(&arguments.wait.junit, output, FailureOutput::from_matches(matches))?
        .with_gate(&arguments.gate);

    let tools = build_caller_with_files(settings)?;
    let reply = start.send(&tools).await?;
    if start.flags.dry_run {
        return output.print(ExitStatus::Success, reply.value(), || format!("{:#}\n", reply.value()));
    }

    // Without a named project, the answer to the start shows the project of the jobs.
    let project = start.project().or(reply.project());
    let answer = StartReply::new(reply.value());
    let subject = answer.target().map(|(target, jobs)| WaitSubject {
        jobs,
        started: Some(reply.value().clone()),
        not_started: answer.not_started(),
        chosen_build: answer.build_id().filter(|_| !start.devices.builds.contains_key(&None)),
        ..WaitSubject::new(settings, &tools.caller, project, target)
    });

    match subject {
        Ok(subject) if arguments.wait.wait => subject.finish(arguments.wait.timeout(), None, verdicts).await,
        Ok(subject) => {
            let status = output.print(ExitStatus::Success, reply.value(), || announce(&subject))?;
            subject.report_chosen_build().await;
            Ok(status)
        }
        Err(failure) if arguments.wait.wait => {
            let hint = "`tas-mcp jobs` shows the jobs that were started, if any";
            Err(failure.detail("started", reply.value().clone()).hint(hint).into())
        }
        Err(_) => output.print(ExitStatus::Success, reply.value(), || format!("{:#}\n", reply.value())),
    }
}

/// Says how to wait for what was started, and what was not started. Returns the jobs.
fn announce(subject: &WaitSubject<'_>) -> String {
    note(&subject.advice());
    for run in &subject.not_started {
        let device = if run.device.is_empty() { String::new() } else { format!(" on {}", run.device) };
        note(&format!("not started{device}: {}", run.reason));
    }

    subject.jobs_line()
}

struct Start {
    tool: Tool,
    /// The arguments of the tool, without devices and builds.
    own: Fields,
    /// The argument that takes devices by their number.
    by_number: &'static str,
    flags: StartFlags,
    devices: Devices,
}

impl Start {
    fn new(subject: Subject) -> Result<Self, CommandError> {
        let (tool, by_number, own, flags) = match subject {
            Subject::Test(test) => {
                (StartRun::tool(), "player_deployment_configs", fields(&test)?, test.start)
            }
            Subject::Plan(plan) => {
                (StartTestPlanRun::tool(), "slot_deployment_configs", fields(&plan)?, plan.start)
            }
        };
        let is_plan = tool.name == StartTestPlanRun::NAME;
        if !["multiplayer_test_id", "test_plan_id", "instructions"].iter().any(|name| own.contains_key(*name))
        {
            let subject = if is_plan { "plan" } else { "test" };
            return Err(Failure::new(Code::InvalidArguments, format!("which {subject} is to be started?"))
                .hint(format!("name it: `tas-mcp run {subject} NAME`; `tas-mcp {subject}s` lists them"))
                .into());
        }

        let devices = Devices::from_flags(&flags.devices, is_plan)?;
        Ok(Self { tool, own, by_number, flags, devices })
    }

    fn project(&self) -> Option<&str> {
        self.flags.project.project_id.as_deref()
    }

    /// Starts it, after the user has agreed to what it costs.
    async fn send(&self, tools: &CallerWithFiles) -> Result<Reply, CommandError> {
        tools.caller.check_writable(self.tool.info)?;
        let resolver = NameResolver::new(&tools.caller, self.project());
        let own = self.arguments(resolver).await?;
        let StartFlags { dry_run, yes, .. } = self.flags;
        if !dry_run && !yes {
            ask_before_cost(self.tool.name, &own)?;
        }

        let common = CommonArguments {
            is_dry_run: dry_run,
            is_confirmed: yes && !dry_run,
            ..CommonArguments::in_project(self.project())
        };
        match call_with_confirmation(tools, self.tool, ToolArguments::new(own, common)).await {
            Err(CommandError::Failures(failures)) => Err(self.with_advice(failures, resolver).await),
            reply => reply,
        }
    }

    /// Returns the arguments of the tool, in which ids stand for names. Asks for a device that is missing.
    async fn arguments(&self, resolver: NameResolver<'_>) -> Result<Fields, CommandError> {
        let (mut own, mut devices) = (self.own.clone(), self.devices.clone());
        // Names are resolved first, so that a typo fails before the question for the device.
        named_arguments::resolve(resolver, self.tool.info, &mut own).await?;
        devices.complete(resolver, plan_of(&own)).await?;
        devices.add_to(&mut own, self.by_number);
        named_arguments::resolve(resolver, self.tool.info, &mut own).await?;

        Ok(own)
    }

    async fn with_advice(&self, failures: Vec<Failure>, resolver: NameResolver<'_>) -> CommandError {
        let is_refused = failures.iter().any(|failure| failure.code == Code::Rejected);
        let advice = match plan_of(&self.own).filter(|_| is_refused && self.devices.devices.len() < 2) {
            Some(plan) => slot_advice(resolver, plan).await,
            None => None,
        };

        let add = |failure: Failure| match &advice {
            Some(advice) if failure.code == Code::Rejected => failure.hint(advice.clone()),
            _ => failure,
        };
        CommandError::Failures(failures.into_iter().map(add).collect())
    }
}

fn plan_of(own: &Fields) -> Option<&str> {
    own.get("test_plan_id").and_then(Value::as_str)
}
