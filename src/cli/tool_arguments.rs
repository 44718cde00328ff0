//! The arguments of a tool as flags of a command.

use std::io::Read as _;

use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value};

use super::{command_error::CommandError, exit_status::ExitStatus, images};
use crate::{
    call::common_arguments::ToolArguments,
    failure::{Code, Failure},
    fields::Fields,
    service::tool::{FIELDS, PROJECT_ID, Tool},
    tools::catalog::ToolEntry,
};

/// Flag with all arguments as JSON.
const JSON: &str = "json";

/// Flag that confirms a costly or irreversible call.
pub(super) const YES: &str = "yes";

/// Flag that prints compact JSON on a terminal too.
pub(super) const RAW: &str = "raw";

/// Help of a flag for the project.
pub(super) const PROJECT_HELP: &str = "Project, if no id determines it and no setting names one";

/// Help of [`RAW`].
pub(super) const RAW_HELP: &str = "Print compact JSON on a terminal too";

/// Returns a command whose flags are the arguments of `tool`.
pub(super) fn command(tool: ToolEntry) -> Command {
    let no_properties = Fields::new();
    let properties = properties(tool.tool()).unwrap_or(&no_properties);
    let arguments = properties.iter().map(|(name, schema)| argument_flag(name, argument_help(schema)));
    let project = argument_flag(PROJECT_ID, PROJECT_HELP.to_owned());
    let fields = tool
        .takes_fields()
        .then(|| argument_flag(FIELDS, "Return only these fields, with dots: `test.name`".to_owned()));

    let json = Arg::new(JSON).long(JSON).value_name("JSON").num_args(0..=1).default_missing_value("").help(
        "All arguments as a JSON object; `-` reads it from standard input. Without a value, the same as --raw",
    );
    let raw = Arg::new(RAW).long(RAW).action(ArgAction::SetTrue).help(RAW_HELP);
    let yes = tool.confirmation_question.map(|_| {
        let help = "Do not ask for confirmation; a person has accepted the cost or loss";
        Arg::new(YES).long(YES).action(ArgAction::SetTrue).help(help)
    });

    Command::new(tool.name)
        .about(tool.title)
        .long_about(tool.description().to_owned())
        .after_help(ExitStatus::HELP)
        .args(arguments)
        .args([project, json, raw])
        .args(fields)
        .args(yes)
        .args(images::flag(tool.tool()))
}

/// Returns whether the result is to be printed as compact JSON on a terminal too.
pub(super) fn wants_json(matches: &ArgMatches) -> bool {
    matches.get_flag(RAW) || matches.get_one::<String>(JSON).is_some_and(String::is_empty)
}

/// Returns the arguments of the call. A flag overrides the same argument in `--json`.
pub(super) fn read_arguments(tool: &Tool, matches: &ArgMatches) -> Result<ToolArguments, CommandError> {
    let mut arguments = json_arguments(tool, matches)?;

    let names = properties(tool).into_iter().flat_map(Map::keys).map(String::as_str);
    let fields = tool.takes_fields().then_some(FIELDS);
    for name in names.chain([PROJECT_ID]).chain(fields) {
        // A command may lack the flag of an argument.
        let Ok(Some(texts)) = matches.try_get_many::<String>(name) else { continue };
        let texts: Vec<_> = texts.map(String::as_str).collect();
        // The check of the arguments converts texts to numbers and booleans, and single values to lists.
        let value = match texts.as_slice() {
            [text] => Value::from(*text),
            _ => Value::from(texts),
        };
        arguments.insert(name.to_owned(), value);
    }

    let arguments = ToolArguments::from_host(tool, arguments);
    let is_confirmed = tool.confirmation_question.is_some() && matches.get_flag(YES);

    Ok(if is_confirmed { arguments.confirmed() } else { arguments })
}

/// Returns the arguments that `--json` gives.
fn json_arguments(tool: &Tool, matches: &ArgMatches) -> Result<Fields, CommandError> {
    let Some(json) = matches.get_one::<String>(JSON).filter(|json| !json.is_empty()) else {
        return Ok(Fields::new());
    };
    let mut text = json.clone();
    if json == "-" {
        text.clear();
        std::io::stdin().read_to_string(&mut text).context("standard input cannot be read")?;
    }

    if let Ok(Value::Object(arguments)) = serde_json::from_str(&text) {
        return Ok(arguments);
    }

    let message = format!("`--{JSON}` of `{}` must be a JSON object", tool.name);
    Err(Failure::new(Code::InvalidArguments, message).into())
}

fn properties(tool: &Tool) -> Option<&Fields> {
    tool.input_schema().get("properties").and_then(Value::as_object)
}

/// Returns the flag of the argument `name`: `run_id` becomes `--run-id`, with the alias `--run_id`. The flag of a list
/// may be repeated.
fn argument_flag(name: &str, help: String) -> Arg {
    let long = name.replace('_', "-");
    let flag =
        Arg::new(name.to_owned()).value_name("VALUE").action(ArgAction::Append).allow_hyphen_values(true);
    // People copy argument names from the descriptions of tools, so `--run_id` works too.
    let flag = if long == name { flag } else { flag.alias(name.to_owned()) };

    flag.long(long).help(help).help_heading("Arguments")
}

/// Returns the description of an argument.
fn argument_help(schema: &Value) -> String {
    schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
}
