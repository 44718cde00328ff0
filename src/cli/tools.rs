//! `tas-mcp tools`: the catalog, as people look through it.

use std::io::Write;

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::Value;

use super::{Exit, complain, table::Table};
use crate::{
    arguments::nearest,
    catalog::{self, Entry, OPERATIONS},
    config::Settings,
    failure::{Code, Failure},
    mcp::published_tool,
    operation::Tier,
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
    let found = match name.map(|name| catalog::find(name).ok_or(name)).transpose() {
        Ok(found) => found,
        Err(unknown) => return Ok(complain(&unknown_tool(unknown))),
    };
    let entries: Vec<_> =
        OPERATIONS.iter().filter(|entry| found.is_none_or(|found| found.name == entry.name)).collect();
    let mut output = anstream::stdout();
    if matches.get_flag("json") || found.is_some() {
        let tools: Vec<_> = entries.iter().map(|entry| published_tool(entry, is_global)).collect();
        let shown =
            if found.is_some() { serde_json::to_value(tools.first())? } else { serde_json::to_value(tools)? };
        writeln!(output, "{shown:#}")?;
    } else {
        let mut table = Table::new(["tool", "set", "tier", "offered", "changes", "tokens", "permission"]);
        for entry in entries {
            table.row(row(entry, settings, is_global)?);
        }
        write!(output, "{table}")?;
    }
    Ok(Exit::Done)
}

fn row(entry: &Entry, settings: &Settings, is_global: bool) -> anyhow::Result<[String; 7]> {
    let word = |yes: bool, word: &str| if yes { word.to_owned() } else { String::new() };
    Ok([
        entry.name.to_owned(),
        entry.toolset.name().to_owned(),
        if entry.tier == Tier::Core { "core" } else { "extra" }.to_owned(),
        word(settings.selection().offers(entry), "yes"),
        word(!entry.effect.is_read_only(), "yes"),
        tokens(entry, is_global)?.to_string(),
        entry.access.to_string(),
    ])
}

/// What the tool costs in every conversation: name, description and input schema.
pub(super) fn tokens(entry: &Entry, is_global: bool) -> serde_json::Result<usize> {
    let tool = serde_json::to_value(published_tool(entry, is_global))?;
    let size = |field: &str| tool.get(field).map_or(0, |value: &Value| value.to_string().len());
    Ok((size("name") + size("description") + size("inputSchema")).div_ceil(BYTES_PER_TOKEN))
}

pub(super) fn unknown_tool(name: &str) -> Failure {
    let failure = Failure::new(Code::InvalidArguments, format!("there is no tool `{name}`"));
    match nearest(name, OPERATIONS.iter().map(|entry| entry.name)) {
        Some(nearest) => failure.hint(format!("did you mean `{nearest}`?")),
        None => failure.hint("`tas-mcp tools` lists them"),
    }
}
