//! `tas-mcp call`: calls any tool. Each tool is a subcommand whose flags are the arguments of the tool.

use anyhow::Context as _;
use clap::{ArgMatches, Command};

use super::{
    caller::build_caller_with_files,
    command_error::CommandError,
    confirmation::call_with_confirmation,
    cost_question::{ask_before_cost, may_ask},
    exit_status::ExitStatus,
    failure_output::OutputFormat,
    help_end::help_end,
    images,
    name_resolution::NameResolver,
    named_arguments,
    output::status_after_output,
    reply_output::ReplyOutput,
    tool_arguments::{self, read_arguments},
    tool_lookup::find_tool,
};
use crate::{settings::Settings, tools::catalog};

/// Commands that the help shows.
const EXAMPLES: [&str; 3] = [
    "tas-mcp --sandbox call list_tests --page-size 3",
    "tas-mcp --sandbox call get_run --run-id RUN_ID",
    r#"tas-mcp --sandbox call list_runs --args '{"tags": ["nightly"]}'"#,
];

/// Returns the definition of the command. Its subcommands are built only when the command is used.
pub(super) fn command() -> Command {
    Command::new("call").about("Calls a tool and prints the result").defer(|command| {
        command
            .subcommand_required(true)
            .subcommand_value_name("TOOL")
            .arg_required_else_help(true)
            // An unknown name reaches `find_tool`, which names the most similar tool.
            .allow_external_subcommands(true)
            .after_help(help_end(&EXAMPLES, ExitStatus::HELP))
            .subcommands(catalog::tools().map(|tool| tool_arguments::command(tool.info)))
    })
}

/// Calls the tool and prints its reply.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let (name, matches) = matches.subcommand().context("the tool is missing")?;
    let tool = find_tool(name)?;
    let mut arguments = read_arguments(tool.info, matches)?;
    let directory = images::directory(tool.info, matches)?;

    let tools = build_caller_with_files(settings)?;
    let project = arguments.common.project_id.clone();
    let resolver = NameResolver::new(&tools.caller, project.as_deref());
    named_arguments::resolve(resolver, tool.info, &mut arguments.own).await?;
    named_arguments::resolve_results(resolver, &mut arguments.own).await?;
    if may_ask(tool.name) {
        ask_before_cost(tool.name, &arguments.own, matches)?;
    }
    let reply = call_with_confirmation(&tools, tool, arguments).await?;

    let printed = ReplyOutput::new(tool.info, matches).print(&reply)?;
    // The images are saved even if standard output is closed.
    let saved = directory.map_or(Ok(()), |directory| images::save(reply.pictures(), directory));
    if let Err(failure) = &saved {
        OutputFormat::from_matches(matches).print(failure);
    }
    let status = if saved.is_ok() { ExitStatus::Success } else { ExitStatus::Rejected };

    Ok(status_after_output(status, printed))
}
