//! `tas-mcp tools`: the catalog, as people look through it.

use std::io::Write;

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::Value;

use super::{Exit, complain, table::Table};
use crate::{
    failure::{Code, Failure},
    mcp::published_tool,
    service::tool::{Tier, Tool},
    settings::Settings,
    tools::catalog,
};

/// Bytes that make a token, about: an estimate without a tokenizer.
const BYTES_PER_TOKEN: usize = 4;

/// The command.
pub fn command() -> Command {
    Command::new("tools")
        .about("Lists the tools, or shows one with its schemas")
        .arg(Arg::new("name").value_name("NAME").help("Show this tool only"))
        .arg(Arg::new("json").long("json").action(ArgAction::SetTrue).help("As JSON, the way hosts see them"))
}

/// Runs the command.
pub fn run(matches: &ArgMatches, settings: &Settings) -> anyhow::Result<Exit> {
    let is_global = settings.project().is_none();
    let name = matches.get_one::<String>("name").map(String::as_str);
    let found = match name.map(|name| catalog::find_tool(name).ok_or(name)).transpose() {
        Ok(found) => found,
        Err(unknown) => return Ok(complain(&unknown_tool(unknown))),
    };
    let tools: Vec<_> =
        catalog::tools().filter(|tool| found.is_none_or(|found| found.name == tool.name)).collect();
    let mut output = anstream::stdout();

    if matches.get_flag("json") || found.is_some() {
        let shown: Vec<_> = tools.iter().map(|tool| published_tool(tool.tool(), is_global)).collect();
        let shown =
            if found.is_some() { serde_json::to_value(shown.first())? } else { serde_json::to_value(shown)? };
        writeln!(output, "{shown:#}")?;
    } else {
        let mut table = Table::new(["tool", "set", "tier", "offered", "annotations", "tokens", "permission"]);
        for tool in tools {
            table.row(row(tool.tool(), settings, is_global)?);
        }
        write!(output, "{table}")?;
    }

    Ok(Exit::Done)
}

fn row(tool: &Tool, settings: &Settings, is_global: bool) -> anyhow::Result<[String; 7]> {
    let word = |yes: bool, word: &str| if yes { word.to_owned() } else { String::new() };
    Ok([
        tool.name.to_owned(),
        tool.toolset.name().to_owned(),
        if tool.tier == Tier::Core { "core" } else { "extra" }.to_owned(),
        word(settings.selection().offers(tool), "yes"),
        tool.effect.to_string(),
        tokens(tool, is_global)?.to_string(),
        tool.access.to_string(),
    ])
}

/// What the tool costs in every conversation: name, description and input schema.
pub(super) fn tokens(tool: &Tool, is_global: bool) -> serde_json::Result<usize> {
    let tool = serde_json::to_value(published_tool(tool, is_global))?;
    let size = |field: &str| tool.get(field).map_or(0, |value: &Value| value.to_string().len());
    Ok((size("name") + size("description") + size("inputSchema")).div_ceil(BYTES_PER_TOKEN))
}

pub(super) fn unknown_tool(name: &str) -> Failure {
    let failure = Failure::new(Code::InvalidArguments, format!("there is no tool `{name}`"));
    match catalog::nearest_name(name) {
        Some(nearest) => failure.hint(format!("did you mean `{nearest}`?")),
        None => failure.hint("`tas-mcp tools` lists them"),
    }
}
