//! `tas-mcp tools`: lists the tools, or shows one of them.

use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use serde_json::{Value, json};

use crate::{
    cli::{
        exit_status::{CommandError, ExitStatus},
        help::help_end,
        output::{print_json, print_table},
        table::{Fit, Table},
        tool_arguments::find_tool,
    },
    mcp::{published_tool, published_tools},
    service::tool::Tier,
    settings::Settings,
    tools::{
        catalog::{self, Tool},
        selection::Selection,
    },
};

const EXAMPLES: [&str; 2] = ["tas-mcp tools", "tas-mcp tools start_run"];

/// Average number of bytes per token. An estimate is enough, so no tokenizer is needed.
const BYTES_PER_TOKEN: usize = 4;

#[derive(Args)]
struct ToolsArguments {
    /// Show only this tool
    name: Option<String>,

    /// Print JSON in the form that hosts receive
    #[arg(long)]
    json: bool,
}

pub(super) fn command() -> Command {
    let command = Command::new("tools")
        .about("Lists the tools, or shows one tool with its schemas")
        .after_help(help_end(&EXAMPLES, ""));

    ToolsArguments::augment_args(command)
}

pub(super) fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = ToolsArguments::from_arg_matches(matches)?;
    let (is_global, selection) = (settings.project().is_none(), settings.selection());

    if let Some(name) = &arguments.name {
        let tool = published_tool(find_tool(name)?.info, is_global, &selection);
        print_json(format_args!("{:#}", json!(tool)))?;
    } else if arguments.json {
        let tools = published_tools(catalog::tools().map(|tool| tool.info), is_global, &selection);
        print_json(format_args!("{:#}", json!(tools)))?;
    } else {
        print_table(overview(is_global, &selection))?;
    }

    Ok(ExitStatus::Success)
}

fn overview(is_global: bool, selection: &Selection) -> Table {
    let header = ["tool", "set", "tier", "offered", "effect", "tokens", "permission"];
    let mut table = Table::new(header).fitting([0, 1, 3, 5], Fit::Whole).fitting([2, 6], Fit::Programs);
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

/// Returns the approximate number of tokens of the name, description and input schema of `tool`, which a model reads
/// in every conversation.
fn estimate_tokens(tool: Tool, is_global: bool, selection: &Selection) -> usize {
    let tool = published_tool(tool.info, is_global, selection);
    let size = |value: Value| value.to_string().len();

    (size(json!(tool.name)) + size(json!(tool.description)) + size(json!(tool.input_schema)))
        .div_ceil(BYTES_PER_TOKEN)
}
