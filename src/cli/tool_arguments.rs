//! A tool that a user names, and its arguments: as flags of a command, or with `--args` as one JSON object.

use std::{fs, io::Read as _, path::Path};

use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Args, Command};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    calls::{YES, may_ask},
    command_names::CommandLine,
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    output::{Output, OutputFlags, Shown},
};
use crate::{
    call::{CommonArguments, Reply, ToolArguments},
    failure::{Code, Failure},
    fields::Fields,
    home_path::expand_home,
    service::{
        rule::Rule,
        schema,
        tool::{DRY_RUN, FIELDS, PROJECT_ID, ToolDefinition},
    },
    text::{guidance::for_caller, trimmed},
    tools::catalog::{self, Tool},
};

/// Flag with the arguments of a tool as one JSON object.
pub(super) const ARGS: &str = "args";

const PROJECT_HELP: &str = "Project, if no id determines it and no setting names one";

pub(super) fn find_tool(name: &str) -> Result<Tool, Failure> {
    catalog::find_tool(name).ok_or_else(|| {
        let failure = Failure::new(Code::InvalidArguments, format!("there is no tool `{name}`"));
        match catalog::nearest_name(name) {
            Some(nearest) => failure.hint(format!("did you mean `tool:{nearest}`?")),
            None => failure.hint("`tas-mcp tools` lists the tools"),
        }
    })
}

/// Returns a command whose flags are the arguments of `tool`.
pub(super) fn command(tool: &'static ToolDefinition) -> Command {
    let no_properties = Fields::new();
    let properties = properties(tool).unwrap_or(&no_properties);
    let arguments = properties.iter().map(|(name, schema)| argument_flag(name, argument_help(schema)));
    // Users name the project with `--project`, as in every command.
    let project = argument_flag(PROJECT_ID, PROJECT_HELP.to_owned()).hide(true);
    let args = Arg::new(ARGS)
        .long(ARGS)
        .value_name("JSON")
        .allow_hyphen_values(true)
        .help("All arguments as a JSON object; `@FILE` reads a file, `-` standard input");
    let fields = tool
        .takes_fields()
        .then(|| argument_flag(FIELDS, "Return only these fields, with dots: `test.name`".to_owned()));

    let yes = may_ask(tool).then(|| {
        let help = "Do not ask for confirmation; a person has accepted the cost or loss";
        Arg::new(YES).long(YES).action(ArgAction::SetTrue).help(help)
    });

    let dry_run = tool.takes_dry_run().then(|| {
        let help = "Show the request, and send nothing";
        Arg::new(DRY_RUN).long("dry-run").action(ArgAction::SetTrue).help(help)
    });

    let command = Command::new(tool.name)
        .about(tool.title)
        .long_about(tool.description().for_caller(&CommandLine).unwrap_or_default())
        .after_help(help_end(&[example(tool)], ExitStatus::HELP))
        .args(arguments)
        .args([project, args])
        .args(fields)
        .args(dry_run)
        .args(yes);

    OutputFlags::augment_args(command)
}

// A doc comment here would become the description of the command.
#[derive(Args)]
pub(super) struct ProjectFlag {
    #[arg(long, alias = PROJECT_ID, value_name = "ID", help = PROJECT_HELP, hide = true)]
    pub(super) project_id: Option<String>,
}

// What every command has that changes something. A doc comment here would become the description of the command.
#[derive(Args)]
pub(super) struct ChangeFlags {
    #[command(flatten)]
    project: ProjectFlag,

    #[command(flatten)]
    output: OutputFlags,

    /// Check everything and show the request, and send nothing
    #[arg(long)]
    pub(super) dry_run: bool,

    /// Do not ask: a person has agreed. Needed where nobody can be asked
    #[arg(long)]
    pub(super) yes: bool,
}

impl ChangeFlags {
    pub(super) fn project(&self) -> Option<&str> {
        self.project.project_id.as_deref()
    }

    pub(super) fn output(&self) -> Output {
        self.output.into()
    }

    pub(super) fn common(&self) -> CommonArguments {
        CommonArguments {
            project_id: self.project.project_id.clone(),
            is_confirmed: self.yes,
            is_dry_run: self.dry_run,
        }
    }

    /// Prints the answer to a dry run, which shows the request.
    pub(super) fn show(&self, reply: &Reply) -> Result<ExitStatus, CommandError> {
        let shown = || Shown::Json(format!("{:#}", reply.value()));
        self.output().print(ExitStatus::Success, reply.value(), shown)
    }
}

/// Returns the fields of flags whose names are those of the arguments of a tool.
pub(super) fn fields(flags: &impl Serialize) -> Result<Fields, CommandError> {
    let value = serde_json::to_value(flags)?;
    Ok(value.as_object().cloned().unwrap_or_default())
}

/// Returns the arguments of the call. A flag overrides the same argument in `--args`.
pub(super) fn read_arguments(
    tool: &ToolDefinition,
    matches: &ArgMatches,
) -> Result<ToolArguments, CommandError> {
    let mut arguments = read_json(matches)?;

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

    if tool.takes_dry_run() && matches.get_flag(DRY_RUN) {
        arguments.insert(DRY_RUN.to_owned(), true.into());
    }
    let arguments = ToolArguments::from_host(tool, arguments);
    let is_confirmed = may_ask(tool) && matches.get_flag(YES);

    Ok(if is_confirmed { arguments.confirmed() } else { arguments })
}

fn read_json(matches: &ArgMatches) -> Result<Fields, CommandError> {
    // A command may lack the flag.
    let Ok(Some(value)) = matches.try_get_one::<String>(ARGS) else { return Ok(Fields::new()) };
    let text = match value.strip_prefix('@') {
        Some(path) => read_file(path)?,
        None if value == "-" => read_input()?,
        None => value.clone(),
    };

    let problem = match serde_json::from_str(trimmed(&text)) {
        Ok(Value::Object(arguments)) => return Ok(arguments),
        Ok(_) => "it is another JSON value".to_owned(),
        Err(error) => error.to_string(),
    };
    let message = format!("`--{ARGS}` must be a JSON object: {problem}");

    Err(Failure::new(Code::InvalidArguments, message).hint("nothing was sent").into())
}

fn read_input() -> anyhow::Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("standard input cannot be read")?;
    Ok(text)
}

fn read_file(path: &str) -> Result<String, Failure> {
    let failure = |reason: String| {
        let message = format!("`--{ARGS} @{path}` cannot be read: {reason}");
        Failure::new(Code::FileError, message).hint("nothing was sent")
    };

    let file = &*expand_home(path);
    if Path::new(file).is_dir() {
        return Err(failure("it is a directory".to_owned()));
    }
    fs::read_to_string(file).map_err(|error| failure(error.to_string()))
}

/// Returns an example of a call of `tool`. It has the required arguments, and the first one of arguments of which one is required.
fn example(tool: &ToolDefinition) -> String {
    let required = tool.input_schema().get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let chosen = tool.rules.iter().filter_map(|rule| match rule {
        Rule::ExactlyOne(names) | Rule::AtLeastOne(names) => names.first().copied(),
        _ => None,
    });

    let flags = required
        .chain(chosen)
        .map(|name| format!("--{} {}", name.replace('_', "-"), example_value(tool, name)));
    let words: Vec<_> = ["tas-mcp call", tool.name].map(str::to_owned).into_iter().chain(flags).collect();

    words.join(" ")
}

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

fn argument_help(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    for_caller(text, &CommandLine).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_breaks_no_rule_of_its_tool() {
        for tool in catalog::tools() {
            let example = example(tool.info);
            let flags = example.split(" --").skip(1).filter_map(|flag| flag.split_once(' '));
            let given: Fields = flags.map(|(name, value)| (name.replace('-', "_"), value.into())).collect();

            // Custom rules check values, and the values of an example are placeholders.
            let mut violations = Vec::new();
            for rule in tool.info.rules.iter().filter(|rule| !rule.names().is_empty()) {
                rule.check(&given, &mut violations);
            }
            assert!(violations.is_empty(), "{example}: {violations:?}");
        }
    }
}
