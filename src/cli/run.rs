//! `tas-mcp run`: starts a test or a plan. With `--wait` the exit status reports the verdicts.

mod start_reply;

use std::time::Duration;

use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command, parser::ValueSource, value_parser};
use serde_json::Value;

use self::start_reply::StartReply;
use super::{
    calls::{YES, ask_before_cost, build_caller_with_files, call_with_confirmation},
    exit_status::{CommandError, ExitStatus},
    help::{arranged, help_end},
    name_completion::complete_name,
    name_resolution::NameResolver,
    named_arguments::{self, DEVICES_BY_NUMBER},
    output::{note, print_line, prints_json, status_after_output, wants_json},
    tool_arguments::{self, read_arguments},
    waiting::{JUNIT, MAX_TIMEOUT_S, VerdictOutput, WaitSubject, junit_flag, options_with_progress},
};
use crate::{
    call::{
        Caller,
        arguments::{CommonArguments, ToolArguments},
        reply::Reply,
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{builds::GetBuild, plans::StartTestPlanRun, runs::StartRun},
        catalog::ListedOperation as _,
    },
    settings::Settings,
    tools::{
        catalog::{ListedTool as _, Tool},
        waiting::Wait,
    },
};

const WAIT: &str = "wait";
const TIMEOUT: &str = "timeout-seconds";

/// Commands that the help shows.
const EXAMPLES: [&str; 2] = [
    r#"tas-mcp run test "Pause and resume" --device "Windows PC""#,
    r#"tas-mcp run plan "Release smoke" --device "Windows PC" --wait --junit report.xml"#,
];

/// Positional argument: the id of the test or plan.
const SUBJECT: &str = "subject";

/// A subcommand that starts something.
struct StartCommand {
    /// Name of the subcommand.
    word: &'static str,
    tool: Tool,
    /// Argument of the tool that takes the id.
    id_argument: &'static str,
    /// Name of a record in the commands that the help shows.
    example: &'static str,
}

impl StartCommand {
    fn all() -> [Self; 2] {
        let (test, plan) = (StartRun::tool(), StartTestPlanRun::tool());

        [
            Self {
                word: "test",
                tool: test,
                id_argument: "multiplayer_test_id",
                example: "Pause and resume",
            },
            Self { word: "plan", tool: plan, id_argument: "test_plan_id", example: "Release smoke" },
        ]
    }

    fn command(&self) -> Command {
        let subject = Arg::new(SUBJECT)
            .value_name(self.word.to_uppercase())
            .help(format!("Name or id of the {}", self.word));
        let subject = complete_name(subject, self.id_argument);
        let start = format!(r#"tas-mcp run {} "{}" --device "Windows PC""#, self.word, self.example);
        let examples = [start.clone(), format!("{start} --wait --junit report.xml")];
        let build = "Name, words of the name or id of the build, or `latest`. Default: the service chooses";

        tool_arguments::command(self.tool.info)
            .name(self.word)
            .about(format!("Starts a {} by name", self.word))
            .long_about(None)
            .after_help(help_end(&examples, ExitStatus::WAIT_HELP))
            .arg(subject)
            .mut_args(|flag| if SUBJECTS.contains(&flag.get_id().as_str()) { flag.hide(true) } else { flag })
            .mut_arg("deployment_config_id", |flag| {
                flag.visible_alias("device").help("Name or id of the device; `tas-mcp devices` lists them")
            })
            .mut_arg("build_id", |flag| flag.visible_alias("build").help(build))
            .mut_arg("agent_config_id", |flag| {
                flag.visible_alias("agent").help("Name or id of the AI player")
            })
    }
}

/// Arguments that the name of the test or of the plan replaces.
const SUBJECTS: [&str; 2] = ["multiplayer_test_id", "test_plan_id"];

/// Returns the definition of the command. Its subcommands are built only when the command is used.
pub(super) fn command() -> Command {
    let about = "Starts a test or a plan by name; with --wait the exit code reports the verdicts";
    Command::new("run").about(about).after_help(help_end(&EXAMPLES, ExitStatus::WAIT_HELP)).defer(|command| {
        let wait = Arg::new(WAIT).long(WAIT).action(ArgAction::SetTrue);
        let timeout = Arg::new(TIMEOUT)
            .long(TIMEOUT)
            .value_name("N")
            .value_parser(value_parser!(u64).range(1..=MAX_TIMEOUT_S))
            .default_value("7200");

        command
            .subcommand_required(true)
            .subcommand_value_name("test|plan")
            .arg_required_else_help(true)
            .arg(wait.global(true).help("Wait until everything has finished, and print the verdicts"))
            .arg(timeout.global(true).help("Maximum time to wait"))
            .arg(junit_flag().global(true).help("Write the verdicts as JUnit XML; needs --wait"))
            .subcommands(StartCommand::all().iter().map(StartCommand::command).map(arranged))
    })
}

/// Starts the test or plan. With `--wait`, waits for it and prints the verdicts.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let (word, matches) = matches.subcommand().context("the subcommand is missing")?;
    let start = StartCommand::all().into_iter().find(|start| start.word == word);
    let start = start.context("the subcommand is unknown")?;
    check_wait_flags(matches)?;
    let mut arguments = read_arguments(start.tool.info, matches)?;
    let output = VerdictOutput::from_matches(matches)?;

    let tools = build_caller_with_files(settings)?;
    let project = arguments.common.project_id.clone();
    let resolver = NameResolver::new(&tools.caller, project.as_deref());
    if let Some(name) = matches.get_one::<String>(SUBJECT) {
        arguments.own.insert(start.id_argument.to_owned(), Value::from(name.as_str()));
    }
    add_file_defaults(settings, &mut arguments.own);
    named_arguments::resolve(resolver, start.tool.info, &mut arguments.own).await?;

    ask_before_cost(start.tool.name, &arguments.own, || matches.get_flag(YES))?;
    let names_build = arguments.own.contains_key("build_id");
    let reply = call_with_confirmation(&tools, start.tool, arguments).await?;

    // Without a named project, the answer to the start shows the project of the jobs.
    let project = project.or_else(|| reply.project().map(str::to_owned));
    let started = Started { settings, caller: &tools.caller, reply: &reply, project };
    if matches.get_flag(WAIT) {
        return started.wait(matches, output, !names_build).await;
    }

    let printed =
        if prints_json(wants_json(matches)) { print_line(reply.value()) } else { started.announce() };
    if !names_build {
        started.report_chosen_build().await;
    }

    Ok(status_after_output(ExitStatus::Success, printed))
}

/// A start that the service has accepted.
struct Started<'a> {
    settings: &'a Settings,
    caller: &'a Caller,
    reply: &'a Reply,
    project: Option<String>,
}

impl Started<'_> {
    /// Returns what to wait for.
    fn subject(&self) -> Result<WaitSubject<'_>, Failure> {
        let started = self.reply.value();
        let (target, jobs) = StartReply(started).target().map_err(|failure| {
            failure
                .detail("started", started.clone())
                .hint("`list_jobs` shows the jobs that were started, if any")
        })?;

        Ok(WaitSubject {
            settings: self.settings,
            caller: self.caller,
            project: self.project.as_deref(),
            target,
            jobs,
            started: Some(started.clone()),
            not_started: StartReply(started).not_started(),
        })
    }

    /// Prints the ids of the jobs, how to wait for them, and what was not started. Prints the whole answer if it names
    /// no job.
    fn announce(&self) -> std::io::Result<()> {
        let Ok(subject) = self.subject() else { return print_line(format_args!("{:#}", self.reply.value())) };
        subject.announce();

        for run in &subject.not_started {
            let device = Some(&run.device).filter(|device| !device.is_empty());
            let device = device.map(|device| format!(" on {device}")).unwrap_or_default();
            note(&format!("not started{device}: {}", run.reason));
        }

        Ok(())
    }

    /// Prints which build the service has chosen. The start is done, so that a failure is only a missing name.
    async fn report_chosen_build(&self) {
        let Some(id) = self.reply.value().get("build_id").and_then(Value::as_str) else { return };
        let own = Fields::from_iter([("build_id".to_owned(), Value::from(id))]);
        let arguments = ToolArguments::new(own, CommonArguments::in_project(self.project.as_deref()));

        let build = self.caller.call_guarded(GetBuild::entry(), arguments).await.ok();
        let name = build.map(|build| build.view::<GetBuild>().build.name).filter(|name| !name.is_empty());
        let name = name.map(|name| format!("{name} ")).unwrap_or_default();
        note(&format!("the service chose the build {name}({id})"));
    }

    /// Waits for the jobs or the execution, and prints the verdicts.
    async fn wait(
        &self,
        matches: &ArgMatches,
        output: VerdictOutput,
        reports_build: bool,
    ) -> Result<ExitStatus, CommandError> {
        let subject = self.subject()?;
        let wait = Wait {
            target: subject.target.clone(),
            expected_jobs: subject.jobs.clone(),
            project: self.project.clone(),
            timeout: Duration::from_secs(*matches.get_one::<u64>(TIMEOUT).unwrap_or(&MAX_TIMEOUT_S)),
            interval: None,
        };
        let completion = async {
            let options = options_with_progress();
            if reports_build {
                self.report_chosen_build().await;
            }

            wait.run(self.caller, &options).await.map_err(|failure| {
                let hint = format!("the start succeeded; {}", subject.advice());
                failure.detail("started", self.reply.value().clone()).hint(hint)
            })
        };

        subject.finish(completion, output).await
    }
}

/// Checks that the flags of a wait are used only with `--wait`.
fn check_wait_flags(matches: &ArgMatches) -> Result<(), Failure> {
    let is_given = |flag: &&str| matches.value_source(flag) == Some(ValueSource::CommandLine);
    match [JUNIT, TIMEOUT].into_iter().find(is_given) {
        Some(flag) if !matches.get_flag(WAIT) => {
            let failure = Failure::new(Code::InvalidArguments, format!("`--{flag}` needs `--{WAIT}`"));
            Err(failure.hint("nothing was sent"))
        }
        _ => Ok(()),
    }
}

/// Adds the device and the build of the project file where `arguments` has none, and says so.
fn add_file_defaults(settings: &Settings, arguments: &mut Fields) {
    let Some((defaults, path)) = settings.run_defaults() else { return };
    // These arguments name the devices and builds of each player, and exclude the defaults.
    if DEVICES_BY_NUMBER.iter().any(|name| arguments.contains_key(*name)) {
        return;
    }

    let defaults =
        [("deployment_config_id", "device", &defaults.device), ("build_id", "build", &defaults.build)];
    for (argument, word, default) in defaults {
        if let Some(default) = default.as_ref().filter(|_| !arguments.contains_key(argument)) {
            note(&format!("{word} from the project file {}: {default}", path.display()));
            arguments.insert(argument.to_owned(), Value::from(default.as_str()));
        }
    }
}
