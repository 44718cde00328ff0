//! The arguments of a tool as flags of a command.

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value};

use super::{
    command_error::CommandError,
    command_line_text::{Names, for_command_line},
    confirmation::YES,
    cost_question,
    exit_status::ExitStatus,
    help_end::help_end,
    images,
    json_arguments::{self, args_flag},
    value_completion::complete_argument,
};
use crate::{
    call::arguments::ToolArguments,
    fields::Fields,
    service::{
        schema,
        tool::{FIELDS, PROJECT_ID, ToolDefinition},
    },
    text::guidance::{AllTools, for_caller},
};

/// Flag that prints results and failures as JSON.
pub(super) const JSON: &str = "json";

/// Help of a flag for the project.
const PROJECT_HELP: &str = "Project, if no id determines it and no setting names one";

/// Returns a command whose flags are the arguments of `tool`.
pub(super) fn command(tool: &'static ToolDefinition) -> Command {
    let no_properties = Fields::new();
    let properties = properties(tool).unwrap_or(&no_properties);
    let arguments = properties
        .iter()
        .map(|(name, schema)| complete_argument(argument_flag(name, argument_help(schema)), name, schema));
    let project = argument_flag(PROJECT_ID, PROJECT_HELP.to_owned());
    let fields = tool
        .takes_fields()
        .then(|| argument_flag(FIELDS, "Return only these fields, with dots: `test.name`".to_owned()));

    let asks = tool.confirmation_question.is_some() || cost_question::may_ask(tool.name);
    let yes = asks.then(|| {
        let help = "Do not ask for confirmation; a person has accepted the cost or loss";
        Arg::new(YES).long(YES).action(ArgAction::SetTrue).help(help)
    });

    Command::new(tool.name)
        .about(tool.title)
        .long_about(tool.description().to_string())
        .after_help(help_end(&[example(tool)], ExitStatus::HELP))
        .args(arguments)
        .args([project, args_flag(), json_flag()])
        .args(fields)
        .args(yes)
        .args(images::flag(tool))
}

/// Returns the flag for the project.
pub(super) fn project_flag() -> Arg {
    Arg::new(PROJECT_ID).long("project-id").alias(PROJECT_ID).value_name("ID").help(PROJECT_HELP)
}

/// Returns the flag that prints results and failures as JSON.
pub(super) fn json_flag() -> Arg {
    Arg::new(JSON)
        .long(JSON)
        .action(ArgAction::SetTrue)
        .help("Print results and failures as JSON, on a terminal too")
}

/// Returns whether results and failures are printed as JSON on a terminal too.
pub(super) fn wants_json(matches: &ArgMatches) -> bool {
    matches.get_flag(JSON)
}

/// Returns the arguments of the call. A flag overrides the same argument in `--args`.
pub(super) fn read_arguments(
    tool: &ToolDefinition,
    matches: &ArgMatches,
) -> Result<ToolArguments, CommandError> {
    let mut arguments = json_arguments::read(matches)?;

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

/// Returns a call of `tool` with its required arguments.
fn example(tool: &ToolDefinition) -> String {
    let required = tool.input_schema().get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    let flags = names.map(|name| format!("--{} {}", name.replace('_', "-"), example_value(tool, name)));
    let words: Vec<_> = ["tas-mcp call", tool.name].map(str::to_owned).into_iter().chain(flags).collect();

    words.join(" ")
}

/// Returns a word that stands for a value of the argument `name`.
fn example_value(tool: &ToolDefinition, name: &str) -> String {
    let schema = properties(tool).and_then(|properties| properties.get(name));
    let value_type = schema.and_then(|schema| schema.get("type")).and_then(Value::as_str);
    let word = match value_type {
        Some("object") => "JSON",
        Some("integer" | "number") => "N",
        _ => name.trim_end_matches('s').rsplit('_').next().unwrap_or(name),
    };

    word.to_uppercase()
}

/// Returns the schemas of the arguments of `tool`.
pub(super) fn properties(tool: &ToolDefinition) -> Option<&Fields> {
    schema::properties(tool.input_schema())
}

/// Returns the flag of the argument `name`: `run_id` becomes `--run-id`, with the alias `--run_id`. The flag of a list
/// may be repeated.
fn argument_flag(name: &str, help: String) -> Arg {
    let long = name.replace('_', "-");
    let flag =
        Arg::new(name.to_owned()).value_name("VALUE").action(ArgAction::Append).allow_hyphen_values(true);
    // Users copy argument names from the descriptions of tools, so `--run_id` works too.
    let flag = if long == name { flag } else { flag.alias(name.to_owned()) };

    flag.long(long).help(help).help_heading("Arguments")
}

/// Returns the description of an argument in the words of the command line.
fn argument_help(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    for_command_line(&for_caller(text, &AllTools).unwrap_or_default(), Names::Mixed)
}
