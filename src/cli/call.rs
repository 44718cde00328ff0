//! `tas-mcp call`: calls any tool. Each tool is a subcommand whose flags are the arguments of the tool.

use anyhow::Context as _;
use clap::{ArgMatches, Command};

use super::{
    command_error::CommandError,
    confirmation::call_with_confirmation,
    dispatcher::build_dispatcher,
    exit_status::ExitStatus,
    failure_output::print_failure,
    images,
    output::{print_reply, status_after_output},
    tool_arguments::{self, read_arguments, wants_json},
    tool_lookup::find_tool,
};
use crate::{settings::Settings, tools::catalog};

/// Returns the definition of the command. Its subcommands are built only when the command is used.
pub(super) fn command() -> Command {
    Command::new("call").about("Calls a tool and prints the result").defer(|command| {
        command
            .subcommand_required(true)
            .subcommand_value_name("TOOL")
            .arg_required_else_help(true)
            // An unknown name reaches `find_tool`, which names the most similar tool.
            .allow_external_subcommands(true)
            .after_help(ExitStatus::HELP)
            .subcommands(catalog::tools().map(tool_arguments::command))
    })
}

/// Calls the tool and prints its reply.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let (name, matches) = matches.subcommand().context("the tool is missing")?;
    let tool = find_tool(name)?;
    let arguments = read_arguments(tool.tool(), matches)?;
    let directory = images::directory(tool.tool(), matches)?;

    let reply = call_with_confirmation(&build_dispatcher(settings), tool, arguments).await?;

    let printed = print_reply(&reply, wants_json(matches));
    // The images are saved even if standard output is closed.
    let saved = directory.map_or(Ok(()), |directory| images::save(reply.pictures(), directory));
    if let Err(failure) = &saved {
        print_failure(failure);
    }
    let status = if saved.is_ok() { ExitStatus::Success } else { ExitStatus::Rejected };

    Ok(status_after_output(status, printed))
}
