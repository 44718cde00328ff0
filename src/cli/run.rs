//! `tas-mcp run`: starts a test or a plan. With `--wait` the exit status reports the verdicts.

mod start_reply;

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command, parser::ValueSource, value_parser};
use serde_json::Value;

use self::start_reply::StartReply;
use super::{
    command_error::CommandError,
    confirmation::call_with_confirmation,
    dispatcher::build_dispatcher,
    exit_status::ExitStatus,
    output::{print_reply, status_after_output},
    tool_arguments::{self, read_arguments, wants_json},
    wait::MAX_TIMEOUT_S,
    wait_progress::WaitProgress,
    wait_result::{self, JUNIT, WaitResult},
};
use crate::{
    call::reply::Reply,
    failure::{Code, Failure},
    service::{
        api::{plans::StartTestPlanRun, runs::StartRun},
        catalog::ListedOperation as _,
    },
    settings::Settings,
    tools::{caller::CallerContext, catalog::ToolEntry, dispatcher::Dispatcher, waiting::Wait},
};

const WAIT: &str = "wait";
const TIMEOUT: &str = "timeout-seconds";

/// Positional argument: the id of the test or plan.
const SUBJECT: &str = "subject";

/// A subcommand that starts something.
struct StartCommand {
    /// Name of the subcommand.
    word: &'static str,
    tool: ToolEntry,
    /// Argument of the tool that takes the id.
    id_argument: &'static str,
}

impl StartCommand {
    fn all() -> [Self; 2] {
        let (run, plan_run) = (StartRun::entry(), StartTestPlanRun::entry());
        [
            Self { word: "test", tool: ToolEntry::Operation(run), id_argument: "multiplayer_test_id" },
            Self { word: "plan", tool: ToolEntry::Operation(plan_run), id_argument: "test_plan_id" },
        ]
    }

    fn command(&self) -> Command {
        let subject = Arg::new(SUBJECT).value_name(format!("{}_ID", self.word.to_uppercase()));
        tool_arguments::command(self.tool)
            .name(self.word)
            .after_help(ExitStatus::WAIT_HELP)
            .arg(subject.help(format!("Id of the {}", self.word)))
    }
}

/// Returns the definition of the command. Its subcommands are built only when the command is used.
pub(super) fn command() -> Command {
    let about = "Starts a test or a plan; with --wait the exit code reports the verdicts";
    Command::new("run").about(about).after_help(ExitStatus::WAIT_HELP).defer(|command| {
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
            .arg(wait_result::junit_flag().global(true).help("Write the verdicts as JUnit XML; needs --wait"))
            .subcommands(StartCommand::all().iter().map(StartCommand::command))
    })
}

/// Starts the test or plan. With `--wait`, waits for it and prints the verdicts.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let (word, matches) = matches.subcommand().context("the subcommand is missing")?;
    let start = StartCommand::all().into_iter().find(|start| start.word == word);
    let start = start.context("the subcommand is unknown")?;
    check_wait_flags(matches)?;
    let mut arguments = read_arguments(start.tool.tool(), matches)?;
    let junit = wait_result::junit_file(matches)?;

    if let Some(id) = matches.get_one::<String>(SUBJECT) {
        arguments.own.insert(start.id_argument.to_owned(), Value::from(id.as_str()));
    }
    let project = arguments.common.project_id.clone();
    let dispatcher = build_dispatcher(settings);
    let reply = call_with_confirmation(&dispatcher, start.tool, arguments).await?;

    let raw = wants_json(matches);
    if !matches.get_flag(WAIT) {
        return Ok(status_after_output(ExitStatus::Success, print_reply(&reply, raw)));
    }
    let timeout = Duration::from_secs(*matches.get_one::<u64>(TIMEOUT).unwrap_or(&MAX_TIMEOUT_S));
    // Without a named project, the answer to the start shows the project of the jobs.
    let project = project.or_else(|| reply.project().map(str::to_owned));
    let result = wait(&dispatcher, &reply, project.clone(), timeout).await?;

    Ok(result.output(dispatcher.gateway(), project.as_deref(), junit, raw).await)
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

/// Waits for the jobs or the execution that `reply` names.
async fn wait(
    dispatcher: &Dispatcher,
    reply: &Reply,
    project: Option<String>,
    timeout: Duration,
) -> Result<WaitResult, Failure> {
    let started = reply.value().clone();
    let start_reply = StartReply(&started);
    let (target, expected_jobs) = start_reply.target().map_err(|failure| {
        failure
            .detail("started", started.clone())
            .hint("`list_jobs` shows the jobs that were started, if any")
    })?;

    let wait = Wait { target, expected_jobs, project, timeout, interval: None };
    let caller = CallerContext { progress: Arc::new(WaitProgress::new()), ..CallerContext::silent() };
    let completion = wait.run(dispatcher.gateway(), &caller).await.map_err(|failure| {
        failure.detail("started", started.clone()).hint("the start succeeded: continue with `tas-mcp wait`")
    })?;

    let not_started = start_reply.not_started();
    Ok(WaitResult { completion, not_started, started: Some(started) })
}
