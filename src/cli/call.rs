//! `tas-mcp call`: any tool from the command line. Each is a subcommand whose flags are its arguments.

use std::io::{IsTerminal, Read, Write};

use anyhow::Context;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value};

use super::{Exit, complain, images, table::Table, tools::unknown_tool};
use crate::{
    call::reply::Reply,
    failure::{Code, Failure},
    fields::Fields,
    service::{
        schema::KNOWN,
        tool::{CONFIRM, FIELDS, PROJECT_ID, Tool},
    },
    settings::Settings,
    tools::{
        caller::CallerContext,
        catalog::{self, ToolEntry},
        dispatcher::Dispatcher,
    },
};

/// Flag that takes all arguments as JSON.
const JSON: &str = "json";

/// Flag that agrees to a costly or irreversible call.
pub(super) const YES: &str = "yes";

/// Flag that shows the answer as it came.
const RAW: &str = "raw";

/// The command. Its subcommands are made only when it is used.
pub fn command() -> Command {
    Command::new("call").about("Calls a tool and prints its result").defer(|command| {
        command
            .subcommand_required(true)
            .subcommand_value_name("TOOL")
            .arg_required_else_help(true)
            .allow_external_subcommands(true)
            .after_help(Exit::HELP)
            .subcommands(catalog::tools().map(subcommand))
    })
}

/// A command whose flags are the arguments of a tool.
pub(super) fn subcommand(tool: ToolEntry) -> Command {
    let none = Fields::new();
    let properties = tool.input_schema().get("properties").and_then(Value::as_object).unwrap_or(&none);
    let flags = properties.iter().map(|(name, schema)| flag(name, told(schema)));
    let project = flag(PROJECT_ID, "Project, where no id decides it and the settings name none".to_owned());
    let fields =
        tool.takes_fields().then(|| flag(FIELDS, "Only these fields, dotted: `test.name`".to_owned()));
    let yes = tool.confirmation_question.map(|_| {
        Arg::new(YES)
            .long(YES)
            .action(ArgAction::SetTrue)
            .help("Do not ask first: a person agreed to the cost or loss")
    });

    let json = Arg::new(JSON).long(JSON).value_name("JSON").num_args(0..=1).default_missing_value("").help(
        "All arguments as a JSON object; `-` reads it from standard input. Without a value the same as --raw",
    );
    let raw = Arg::new(RAW).long(RAW).action(ArgAction::SetTrue).help("Compact JSON, also on a terminal");

    Command::new(tool.name)
        .about(tool.title)
        .long_about(tool.description().to_owned())
        .after_help(Exit::HELP)
        .args(flags)
        .args([project, json, raw])
        .args(fields)
        .args(yes)
        .args(images::flag(tool.tool()))
}

/// The flag of an argument: `run_id` is `--run-id`, and `--run_id` too. A list repeats its flag.
fn flag(name: &str, help: String) -> Arg {
    let long = name.replace('_', "-");
    let flag =
        Arg::new(name.to_owned()).value_name("VALUE").action(ArgAction::Append).allow_hyphen_values(true);
    let flag = if long == name { flag } else { flag.alias(name.to_owned()) };
    flag.long(long).help(help).help_heading("Arguments")
}

/// What an argument takes: its description, or what its schema tells without one.
fn told(schema: &Value) -> String {
    let text = |name: &str| schema.get(name).and_then(Value::as_str);
    if let Some(description) = text("description") {
        return description.to_owned();
    }

    let known = schema.get(KNOWN).unwrap_or(schema);
    match (text("type"), text("format")) {
        (Some("array"), _) => "May be repeated".to_owned(),
        (Some("object"), _) => match known.get("properties").and_then(Value::as_object) {
            Some(known) => {
                let names: Vec<_> = known.keys().map(|name| format!("`{name}`")).collect();
                format!("JSON object of {}", names.join(", "))
            }
            None => "JSON object".to_owned(),
        },
        (_, Some("uuid")) => "UUID".to_owned(),
        _ => String::new(),
    }
}

/// Runs the command.
pub async fn run(matches: &ArgMatches, settings: &Settings) -> anyhow::Result<Exit> {
    let (name, matches) = matches.subcommand().context("no tool is named")?;
    let Some(tool) = catalog::find_tool(name) else { return Ok(complain(&unknown_tool(name))) };
    let arguments = match arguments(tool.tool(), matches)? {
        Ok(arguments) => arguments,
        Err(failure) => return Ok(complain(&failure)),
    };
    let directory = match images::directory(tool.tool(), matches) {
        Ok(directory) => directory,
        Err(failure) => return Ok(complain(&failure)),
    };

    match confirmed(&Dispatcher::new(settings.tools_config()), tool, arguments).await? {
        Ok(reply) => {
            let printed = print(&reply, wants_json(matches));
            match directory.map(|directory| images::save(reply.pictures(), directory)) {
                Some(Err(failure)) => {
                    complain(&failure);
                    printed.map(|_| Exit::Refused)
                }
                _ => printed,
            }
        }
        Err(failure) => Ok(complain(&failure)),
    }
}

/// Whether the answer is shown as it came, on a terminal too.
pub(super) fn wants_json(matches: &ArgMatches) -> bool {
    matches.get_flag(RAW) || matches.get_one::<String>(JSON).is_some_and(String::is_empty)
}

/// Calls a tool; where a person has to agree first, asks.
pub(super) async fn confirmed(
    dispatcher: &Dispatcher,
    tool: ToolEntry,
    mut arguments: Fields,
) -> anyhow::Result<Result<Reply, Failure>> {
    let outcome = dispatcher.call_tool(tool, arguments.clone(), CallerContext::silent()).await;
    match &outcome {
        Err(failure) if failure.code == Code::ConfirmationRequired && agreed(failure)? => {
            arguments.insert(CONFIRM.to_owned(), Value::Bool(true));
            Ok(dispatcher.call_tool(tool, arguments, CallerContext::silent()).await)
        }
        _ => Ok(outcome),
    }
}

/// The arguments of the call; a flag beats the same name in `--json`.
pub(super) fn arguments(tool: &Tool, matches: &ArgMatches) -> anyhow::Result<Result<Fields, Failure>> {
    let mut arguments = Map::new();
    if let Some(json) = matches.get_one::<String>(JSON).filter(|json| !json.is_empty()) {
        let Ok(Value::Object(fields)) = serde_json::from_str(&json_text(json)?) else {
            let message = format!("`--{JSON}` of `{}` must be a JSON object", tool.name);
            return Ok(Err(Failure::new(Code::InvalidArguments, message)));
        };
        arguments = fields;
    }

    let names =
        tool.input_schema().get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    let fields = tool.takes_fields().then_some(FIELDS);

    for name in names.map(String::as_str).chain([PROJECT_ID]).chain(fields) {
        // A command may leave a flag out.
        let Ok(Some(values)) = matches.try_get_many::<String>(name) else { continue };
        let mut values: Vec<_> = values.map(|value| Value::from(value.as_str())).collect();
        let value = if values.len() == 1 { values.remove(0) } else { Value::Array(values) };
        arguments.insert(name.to_owned(), value);
    }

    if tool.confirmation_question.is_some() && matches.get_flag(YES) {
        arguments.insert(CONFIRM.to_owned(), Value::Bool(true));
    }

    Ok(Ok(arguments))
}

/// Asks the person at the terminal; nobody there is no agreement.
pub(super) fn agreed(failure: &Failure) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(false);
    }

    write!(anstream::stderr(), "{failure}. Go on? [y/N] ")?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;

    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn json_text(json: &str) -> anyhow::Result<String> {
    if json != "-" {
        return Ok(json.to_owned());
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("standard input cannot be read")?;
    Ok(text)
}

/// Compact JSON in a pipe; on a terminal a table of a list, else indented JSON.
pub(super) fn print(reply: &Reply, raw: bool) -> anyhow::Result<Exit> {
    let value = reply.value();
    let mut output = anstream::stdout();

    if raw || !std::io::stdout().is_terminal() {
        writeln!(output, "{value}")?;
    } else if let Some(table) = list(value) {
        write!(output, "{table}")?;
        let number = |path: &str| value.pointer(path).and_then(Value::as_u64);
        if let (Some(next), Some(total)) = (number("/next/page"), number("/pagination/total_count")) {
            writeln!(output, "{total} records in all; more with --page {next}")?;
        }
    } else {
        writeln!(output, "{value:#}")?;
    }

    Ok(Exit::Done)
}

/// The records of a list as a table of their plain fields.
fn list(value: &Value) -> Option<Table> {
    let records = value.get("data")?.as_array()?;
    let plain = |value: &Value| !value.is_object() && !value.is_array();
    let first = records.first()?.as_object()?;
    let columns: Vec<_> =
        first.iter().filter(|(_, value)| plain(value)).map(|(name, _)| name.as_str()).collect();
    let mut table = Table::new(columns.iter().copied());

    for record in records {
        table.row(columns.iter().map(|name| match record.get(name) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }));
    }

    Some(table)
}
