//! `tas-mcp run`: starts a test or a plan; with `--wait` it ends as the verdicts say.

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command, parser::ValueSource, value_parser};
use serde_json::Value;

mod started;

use self::started::Started;
use super::{
    Exit, call, complain,
    live::Live,
    new_file::NewFile,
    verdicts::{self, Ending},
    wait::TIMEOUT_S,
};
use crate::{
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::start::{StartRun, StartTestPlanRun},
        operation::Operation as _,
        tool::PROJECT_ID,
    },
    settings::Settings,
    tools::{
        caller::CallerContext,
        catalog::{self, ToolEntry},
        dispatcher::Dispatcher,
        waiting::Wait,
    },
};

/// Flags of waiting.
const WAIT: &str = "wait";
const TIMEOUT: &str = "timeout-seconds";
const JUNIT: &str = "junit";

/// Positional argument: the test or the plan.
const SUBJECT: &str = "subject";

/// What is started: word of the command, tool, and argument of the tool that names it.
const STARTS: [(&str, &str, &str); 2] =
    [("test", StartRun::NAME, "multiplayer_test_id"), ("plan", StartTestPlanRun::NAME, "test_plan_id")];

/// The command. Its subcommands are made only when it is used.
pub fn command() -> Command {
    let about = "Starts a test or a plan; with --wait it ends as the verdicts say";
    Command::new("run").about(about).after_help(Exit::HELP_OF_WAITING).defer(|command| {
        let wait = Arg::new(WAIT).long(WAIT).action(ArgAction::SetTrue);
        let timeout = Arg::new(TIMEOUT)
            .long(TIMEOUT)
            .value_name("N")
            .value_parser(value_parser!(u64).range(1..=TIMEOUT_S));
        command
            .subcommand_required(true)
            .subcommand_value_name("test|plan")
            .arg_required_else_help(true)
            .arg(wait.global(true).help("Wait until everything is over, and print the verdicts"))
            .arg(timeout.global(true).default_value("7200").help("How long to wait"))
            .arg(verdicts::flag().global(true).help("JUnit XML of the verdicts, for CI; with --wait"))
            .subcommands(
                STARTS.iter().filter_map(|(word, tool, _)| Some(subcommand(word, catalog::find_tool(tool)?))),
            )
    })
}

fn subcommand(word: &'static str, tool: ToolEntry) -> Command {
    let subject = Arg::new(SUBJECT).value_name(format!("{}_ID", word.to_uppercase()));
    let command = call::subcommand(tool).name(word).after_help(Exit::HELP_OF_WAITING);
    command.arg(subject.help(format!("Id of the {word}")))
}

/// Runs the command.
pub async fn run(matches: &ArgMatches, settings: &Settings) -> anyhow::Result<Exit> {
    let (word, matches) = matches.subcommand().context("nothing is named")?;
    let start = STARTS.iter().find(|(known, ..)| *known == word).context("nothing is named")?;
    let tool = catalog::find_tool(start.1).context("there is no such tool")?;
    let (mut arguments, report) = match read(tool, matches)? {
        Ok(read) => read,
        Err(failure) => return Ok(complain(&failure)),
    };

    if let Some(subject) = matches.get_one::<String>(SUBJECT) {
        arguments.insert(start.2.to_owned(), Value::from(subject.as_str()));
    }

    let dispatcher = Dispatcher::new(settings.tools_config());
    let project = arguments.get(PROJECT_ID).and_then(Value::as_str).map(str::to_owned);
    let reply = match call::confirmed(&dispatcher, tool, arguments).await? {
        Ok(reply) => reply,
        Err(failure) => return Ok(complain(&failure)),
    };
    let raw = call::wants_json(matches);
    if !matches.get_flag(WAIT) {
        return call::print(&reply, raw);
    }

    let project = project.or_else(|| reply.project().map(str::to_owned));
    let timeout = Duration::from_secs(*matches.get_one::<u64>(TIMEOUT).unwrap_or(&TIMEOUT_S));
    let started = reply.value().clone();
    let (target, named) = match Started(&started).target() {
        Ok(target) => target,
        Err(failure) => {
            let failure = failure.detail("started", started);
            return Ok(complain(&failure.hint("`list_jobs` shows what was started, if anything was")));
        }
    };

    let wait = Wait { target, named, project: project.clone(), timeout, interval: None };
    let audience = CallerContext { watcher: Arc::new(Live::new()), ..CallerContext::silent() };

    match wait.run(dispatcher.gateway(), &audience).await {
        Ok(completion) => {
            // The display ends before the table begins.
            drop(audience);
            let not_started = Started(&started).not_started();
            let ending = Ending { completion, not_started, started: Some(started) };
            ending.told(dispatcher.gateway(), project.as_deref(), report, raw).await
        }
        Err(failure) => {
            let failure = failure.detail("started", started);
            Ok(complain(&failure.hint("it was started: go on with `tas-mcp wait`")))
        }
    }
}

type Read = (Fields, Option<NewFile>);

fn read(tool: ToolEntry, matches: &ArgMatches) -> anyhow::Result<Result<Read, Failure>> {
    let is_given = |flag: &str| matches.value_source(flag) == Some(ValueSource::CommandLine);
    if let Some(flag) = [JUNIT, TIMEOUT].into_iter().find(|flag| is_given(flag) && !matches.get_flag(WAIT)) {
        let failure = Failure::new(Code::InvalidArguments, format!("`--{flag}` needs `--{WAIT}`"));
        return Ok(Err(failure.hint("nothing was sent")));
    }

    let arguments = call::arguments(tool.tool(), matches)?;

    Ok(arguments.and_then(|arguments| Ok((arguments, verdicts::report(matches)?))))
}
