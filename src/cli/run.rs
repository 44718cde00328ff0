//! `tas-mcp run`: starts a test or a plan. With `--wait` the exit status reports the verdicts.

mod devices;
mod start_reply;

use std::time::Duration;

use clap::{ArgMatches, Args, Command, FromArgMatches as _, Subcommand, value_parser};
use serde::Serialize;
use serde_json::Value;
use serde_with::skip_serializing_none;

use self::{
    devices::{DeviceFlags, Devices, slot_advice},
    start_reply::StartReply,
};
use super::{
    calls::{ask_before_cost, build_caller_with_files, call_with_confirmation},
    completions::{plan_names, test_names},
    exit_status::{CommandError, ExitStatus},
    failure_output::FailureOutput,
    gate::GateFlags,
    help::{arranged, help_end},
    name_resolution::NameResolver,
    named_arguments,
    output::{Output, OutputFlags, note},
    tool_arguments::ProjectFlag,
    waiting::{JunitFlag, MAX_TIMEOUT_S, VerdictOutput, WaitSubject, options_with_progress},
};
use crate::{
    call::{
        Caller,
        arguments::{CommonArguments, ToolArguments},
        reply::Reply,
    },
    failure::{Code, Failure},
    fields::Fields,
    service::api::{Uuid, builds::GetBuild, plans::StartTestPlanRun, runs::StartRun},
    settings::Settings,
    tools::{
        catalog::{ListedTool as _, Tool},
        context::CallerWithFiles,
        project_client::ProjectClient,
        waiting::Wait,
    },
};

/// Commands that the help shows.
const EXAMPLES: [&str; 2] = [
    r#"tas-mcp run test "Pause and resume" --device "Windows PC""#,
    r#"tas-mcp run plan "Release smoke" --device "Windows PC" --wait --junit report.xml"#,
];
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
    /// Wait until everything has finished, and print the verdicts
    #[arg(long, global = true)]
    wait: bool,

    /// Maximum time to wait, 1-7200. Default: 7200
    #[arg(long, value_name = "N", global = true, value_parser = value_parser!(u64).range(1..=MAX_TIMEOUT_S))]
    timeout_seconds: Option<u64>,

    #[command(flatten)]
    junit: JunitFlag,

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

    #[arg(long, hide = true, alias = "multiplayer_test_id", conflicts_with = "test")]
    #[serde(skip)]
    multiplayer_test_id: Option<String>,

    #[arg(long, hide = true, alias = "test_plan_id")]
    test_plan_id: Option<String>,

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

    #[arg(long, hide = true, alias = "player_deployment_configs", value_parser = json_object)]
    player_deployment_configs: Option<Value>,

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

    #[arg(long, hide = true, alias = "test_plan_id", conflicts_with = "plan")]
    #[serde(skip)]
    test_plan_id: Option<String>,

    #[arg(long, hide = true, alias = "slot_deployment_configs", value_parser = json_object)]
    slot_deployment_configs: Option<Value>,

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

    #[arg(long = "agent", value_name = "NAME", aliases = ["agent-config-id", "agent_config_id"])]
    #[arg(help = "Name or id of the AI player")]
    agent_config_id: Option<String>,

    #[arg(long = "tag", value_name = "TAG", aliases = ["additional-tags", "additional_tags"])]
    #[arg(help = "Tag for the runs; may be repeated")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    additional_tags: Vec<String>,

    #[arg(long = "all-devices", aliases = ["run-on-all-configured-devices", "run_on_all_configured_devices"])]
    #[arg(num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    #[arg(help = "One run on each phone or tablet of the device; each is billed")]
    run_on_all_configured_devices: Option<bool>,

    #[arg(long, alias = "render_templates", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[arg(help = "Fill the templates in the steps", hide_possible_values = true)]
    render_templates: Option<bool>,

    #[arg(long, alias = "template_data", value_name = "JSON", value_parser = json_object)]
    #[arg(help = "Values for the templates")]
    template_data: Option<Value>,

    #[arg(long, value_name = "JSON", value_parser = json_object, help = options_help())]
    options: Option<Value>,

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

fn options_help() -> String {
    let known = "`performance_monitoring`, `mobile_auto_grant_permissions`, `mobile_geolocation` (city or country), `mobile_gpslocation` (`auto` or `{lat, long}`)";
    format!("Overrides for these runs: {known}")
}

fn json_object(text: &str) -> Result<Value, String> {
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err("must be a JSON object".to_owned()),
        Err(error) => Err(format!("must be a JSON object: {error}")),
    }
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
    arguments.check_wait_flags()?;
    let start = Start::new(arguments.subject)?;
    let output = Output::from(start.flags.output);
    let output = VerdictOutput::new(&arguments.junit, output, FailureOutput::from_matches(matches))?
        .with_gate(&arguments.gate);

    let tools = build_caller_with_files(settings)?;
    tools.caller.check_writable(start.tool.info)?;
    let project = start.flags.project.project_id.clone();
    let resolver = NameResolver::new(&tools.caller, project.as_deref());
    let own = start.arguments(resolver).await?;
    let names_build = own.contains_key("build_id");
    if start.flags.dry_run {
        return show_request(&tools, start.tool, own, project.as_deref(), &output).await;
    }
    ask_before_cost(start.tool.name, &own, || start.flags.yes)?;

    let common = CommonArguments::in_project(project.as_deref());
    let call = ToolArguments::new(own, if start.flags.yes { common.confirmed() } else { common });
    let reply = match call_with_confirmation(&tools, start.tool, call).await {
        Err(CommandError::Failures(failures)) => return Err(start.with_advice(failures, resolver).await),
        reply => reply?,
    };

    // Without a named project, the answer to the start shows the project of the jobs.
    let project = project.or_else(|| reply.project().map(str::to_owned));
    let started = Started {
        settings,
        caller: &tools.caller,
        answer: StartReply::new(reply.value()),
        reply: &reply,
        project,
    };
    if arguments.wait {
        let timeout = Duration::from_secs(arguments.timeout_seconds.unwrap_or(MAX_TIMEOUT_S));
        return started.wait(timeout, output, !names_build).await;
    }

    let status = output.print_start(reply.value(), || started.announce())?;
    if !names_build {
        started.report_chosen_build().await;
    }

    Ok(status)
}

/// Prints the request of a start, which is not sent.
async fn show_request(
    tools: &CallerWithFiles,
    tool: Tool,
    own: Fields,
    project: Option<&str>,
    output: &VerdictOutput,
) -> Result<ExitStatus, CommandError> {
    let common = CommonArguments { is_dry_run: true, ..CommonArguments::in_project(project) };
    let reply = call_with_confirmation(tools, tool, ToolArguments::new(own, common)).await?;

    output.print_start(reply.value(), || format!("{:#}\n", reply.value()))
}

impl RunArguments {
    /// Checks that the flags of a wait are used only with `--wait`.
    fn check_wait_flags(&self) -> Result<(), Failure> {
        let junit = self.junit.junit.as_ref().map(|_| "junit");
        let flag = junit.or(self.timeout_seconds.map(|_| "timeout-seconds")).or(self.gate.given());
        match flag {
            Some(flag) if !self.wait => {
                let failure = Failure::new(Code::InvalidArguments, format!("`--{flag}` needs `--wait`"));
                Err(failure.hint("nothing was sent"))
            }
            _ => Ok(()),
        }
    }
}

/// What is started.
struct Start {
    tool: Tool,
    /// The arguments of the tool, without devices and builds.
    own: Fields,
    /// The argument that takes devices by their number.
    by_number: &'static str,
    flags: StartFlags,
    devices: Devices,
    /// The plan that is named.
    plan: Option<String>,
}

impl Start {
    /// Returns the start that the arguments describe.
    fn new(subject: Subject) -> Result<Self, CommandError> {
        let is_plan = matches!(subject, Subject::Plan(_));
        let (tool, by_number, plan, own, flags) = match subject {
            Subject::Test(mut test) => {
                test.test = test.test.or(test.multiplayer_test_id.take());
                let (plan, own) = (test.test_plan_id.clone(), fields(&test)?);
                (StartRun::tool(), "player_deployment_configs", plan, own, test.start)
            }
            Subject::Plan(mut plan) => {
                plan.plan = plan.plan.or(plan.test_plan_id.take());
                let (name, own) = (plan.plan.clone(), fields(&plan)?);
                (StartTestPlanRun::tool(), "slot_deployment_configs", name, own, plan.start)
            }
        };
        if !["multiplayer_test_id", "test_plan_id", "instructions"].iter().any(|name| own.contains_key(*name))
        {
            let subject = if is_plan { "plan" } else { "test" };
            return Err(Failure::new(Code::InvalidArguments, format!("which {subject} is to be started?"))
                .hint(format!("name it: `tas-mcp run {subject} NAME`; `tas-mcp {subject}s` lists them"))
                .into());
        }

        let devices = Devices::from_flags(&flags.devices, is_plan)?;
        Ok(Self { tool, own, by_number, flags, devices, plan })
    }

    /// Returns the arguments of the tool, in which ids stand for names. Asks for a device that is missing.
    async fn arguments(&self, resolver: NameResolver<'_>) -> Result<Fields, CommandError> {
        let (mut own, mut devices) = (self.own.clone(), self.devices.clone());
        // A name that is wrong is said before a device is asked for.
        named_arguments::resolve(resolver, self.tool.info, &mut own).await?;
        if !own.contains_key(self.by_number) {
            let plan = own.get("test_plan_id").and_then(Value::as_str);
            devices.complete(resolver, plan).await?;
        }
        devices.add_to(&mut own, self.by_number);
        named_arguments::resolve(resolver, self.tool.info, &mut own).await?;

        Ok(own)
    }

    /// Adds to a refusal which slots of the plan need a device.
    async fn with_advice(&self, failures: Vec<Failure>, resolver: NameResolver<'_>) -> CommandError {
        let is_refused = failures.iter().any(|failure| failure.code == Code::Rejected);
        let names_slots = self.own.contains_key(self.by_number) || self.devices.devices.len() > 1;
        let advice = match self.plan.as_ref().filter(|_| is_refused && !names_slots) {
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

fn fields(arguments: &impl Serialize) -> Result<Fields, CommandError> {
    let value = serde_json::to_value(arguments)?;
    Ok(value.as_object().cloned().unwrap_or_default())
}

/// A start that the service has accepted.
struct Started<'a> {
    settings: &'a Settings,
    caller: &'a Caller,
    reply: &'a Reply,
    answer: StartReply,
    project: Option<String>,
}

impl Started<'_> {
    fn subject(&self) -> Result<WaitSubject<'_>, Failure> {
        let started = self.reply.value();
        let (target, jobs) = self.answer.target().map_err(|failure| {
            let hint = "`tas-mcp jobs` shows the jobs that were started, if any";
            failure.detail("started", started.clone()).hint(hint)
        })?;

        Ok(WaitSubject {
            settings: self.settings,
            caller: self.caller,
            project: self.project.as_deref(),
            target,
            jobs,
            started: Some(started.clone()),
            not_started: self.answer.not_started(),
        })
    }

    /// Says how to wait for what was started, and what was not started. Returns the jobs, or the whole answer if it names none.
    fn announce(&self) -> String {
        let Ok(subject) = self.subject() else { return format!("{:#}\n", self.reply.value()) };
        note(&subject.advice());

        for run in &subject.not_started {
            let device = Some(&run.device).filter(|device| !device.is_empty());
            let device = device.map(|device| format!(" on {device}")).unwrap_or_default();
            note(&format!("not started{device}: {}", run.reason));
        }

        subject.jobs_line()
    }

    /// Prints which build the service has chosen. The start is done, so that a failure is only a missing name.
    async fn report_chosen_build(&self) {
        let Some(id) = self.answer.build_id() else { return };
        let client = ProjectClient { caller: self.caller.clone(), project: self.project.clone() };
        let build = client.call(&GetBuild { build_id: Uuid(id.clone()) }).await.ok();

        let name = build.map(|build| build.view::<GetBuild>().build.name).filter(|name| !name.is_empty());
        let name = name.map(|name| format!("{name} ")).unwrap_or_default();
        note(&format!("the service chose the build {name}({id})"));
    }

    /// Waits for the jobs or the execution, and prints the verdicts.
    async fn wait(
        &self,
        timeout: Duration,
        output: VerdictOutput,
        reports_build: bool,
    ) -> Result<ExitStatus, CommandError> {
        let subject = self.subject()?;
        let wait = Wait {
            target: subject.target.clone(),
            expected_jobs: subject.jobs.clone(),
            project: self.project.clone(),
            timeout,
            interval: None,
        };
        let completion = async {
            if reports_build {
                self.report_chosen_build().await;
            }

            // The progress bar begins after everything that is said once.
            let options = options_with_progress();
            wait.run(self.caller, &options).await.map_err(|failure| {
                let hint = format!("the start succeeded; {}", subject.advice());
                failure.detail("started", self.reply.value().clone()).hint(hint)
            })
        };

        subject.finish(completion, output).await
    }
}
