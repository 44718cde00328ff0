//! `tas-mcp tools`: lists the tools, or shows one of them.

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;

use super::{
    command_error::CommandError,
    exit_status::ExitStatus,
    help_end::help_end,
    output::{print_line, print_text},
    table::Table,
    token_estimate::estimate_tokens,
    tool_lookup::find_tool,
};
use crate::{
    mcp::{published_tool, published_tools},
    service::tool::Tier,
    settings::Settings,
    tools::{
        catalog::{self, Tool},
        selection::Selection,
    },
};

/// Commands that the help shows.
const EXAMPLES: [&str; 2] = ["tas-mcp tools", "tas-mcp tools start_run"];

/// Name of the tool to show.
const NAME: &str = "name";

/// Flag that prints JSON.
const JSON: &str = "json";

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let name = Arg::new(NAME).value_name("NAME").help("Show only this tool");
    let json = Arg::new(JSON).long(JSON).action(ArgAction::SetTrue);

    Command::new("tools")
        .about("Lists the tools, or shows one tool with its schemas")
        .after_help(help_end(&EXAMPLES, ""))
        .arg(name)
        .arg(json.help("Print JSON in the form that hosts receive"))
}

/// Prints the tools.
pub(super) fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let (is_global, selection) = (settings.project().is_none(), settings.selection());

    if let Some(name) = matches.get_one::<String>(NAME) {
        let tool = published_tool(find_tool(name)?.info, is_global, &selection);
        print_line(format_args!("{:#}", json!(tool)))?;
    } else if matches.get_flag(JSON) {
        let tools = published_tools(catalog::tools().map(|tool| tool.info), is_global, &selection);
        print_line(format_args!("{:#}", json!(tools)))?;
    } else {
        print_text(overview(is_global, &selection))?;
    }

    Ok(ExitStatus::Success)
}

fn overview(is_global: bool, selection: &Selection) -> Table {
    let mut table = Table::new(["tool", "set", "tier", "offered", "annotations", "tokens", "permission"]);
    for tool in catalog::tools() {
        table.add_row(row(tool, is_global, selection));
    }

    table
}

fn row(tool: Tool, is_global: bool, selection: &Selection) -> [String; 7] {
    [
        tool.name.to_owned(),
        tool.toolset.name().to_owned(),
        if tool.tier == Tier::Core { "core" } else { "extra" }.to_owned(),
        if selection.offers(tool.info) { "yes" } else { "" }.to_owned(),
        tool.effect.to_string(),
        estimate_tokens(tool, is_global, selection).to_string(),
        tool.access.to_string(),
    ]
}
