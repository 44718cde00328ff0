//! Completion of command lines: `tas-mcp completions` prints the script that registers this program with a shell, and the
//! script runs the program with the variable `TAS_COMPLETE`. Some arguments are completed with names and ids from the service.

use std::{env, ffi::OsStr, sync::OnceLock, time::Duration};

use clap::{Arg, ArgMatches, Command};
use clap_complete::{
    CompleteEnv,
    engine::{ArgValueCompleter, CompletionCandidate},
    env::Shells,
};
use indexmap::IndexMap;
use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::{
    call::{CommonArguments, ToolArguments},
    cli::{
        calls::build_caller,
        command_names::quoted,
        exit_status::{CommandError, ExitStatus},
        help::help_end,
        output::print_text,
    },
    failure::Failure,
    fields::{Fields, field_at},
    service::{
        api::{jobs::ListTestPlanExecutions, plans::ListTestPlans, runs::ListRuns, tests::ListTests},
        catalog::{ListedOperation as _, OperationEntry},
    },
    settings::Settings,
    text::visible,
};

/// Names the shell whose command line is to be completed.
const VARIABLE: &str = "TAS_COMPLETE";

/// Whether bash asks. The library removes the variable before it asks for names.
static IS_BASH: OnceLock<bool> = OnceLock::new();

/// A user does not wait longer for the candidates of an argument.
const READ_LIMIT: Duration = Duration::from_secs(1);

pub(super) fn command() -> Command {
    let end = help_end(&[r#"eval "$(tas-mcp completions bash)""#], "");
    let shell = Arg::new("shell").value_name("SHELL").required(true).help("Shell that runs the script");
    let shell = shell.value_parser(["bash", "elvish", "fish", "powershell", "zsh"]);
    Command::new("completions").about("Prints a completion script for a shell").arg(shell).after_help(end)
}

pub(super) fn run(matches: &ArgMatches) -> Result<ExitStatus, CommandError> {
    let shells = Shells::builtins();
    let shell = matches.get_one::<String>("shell").and_then(|shell| shells.completer(shell));
    let shell = shell.ok_or_else(|| anyhow::anyhow!("unknown shell"))?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "tas-mcp", "tas-mcp", "tas-mcp", &mut script)?;
    print_text(String::from_utf8_lossy(&script))?;

    Ok(ExitStatus::Success)
}

/// Completes a command line of `program` if the script of a shell has started it. Returns whether it has.
///
/// # Errors
/// The variable names no shell, or the candidates cannot be written.
pub fn complete_command_line(program: fn() -> Command) -> clap::error::Result<bool> {
    #[expect(clippy::disallowed_methods, reason = "the variable says which shell asks, and is no setting")]
    let is_bash = env::var_os(VARIABLE).is_some_and(|shell| shell == "bash");
    IS_BASH.get_or_init(|| is_bash);

    let directory = env::current_dir().ok();
    CompleteEnv::with_factory(program).var(VARIABLE).try_complete(env::args_os(), directory.as_deref())
}

/// A list whose records complete an argument, and the fields of their ids and names.
type NamedList = (fn() -> &'static OperationEntry, &'static str, &'static str);

pub(super) fn startable_names() -> ArgValueCompleter {
    names_of(&[(ListTestPlans::entry, "id", "name"), (ListTests::entry, "id", "name")])
}

/// Completes an argument with runs and executions, by the names of their tests and plans.
pub(super) fn result_names() -> ArgValueCompleter {
    names_of(&[
        (ListTestPlanExecutions::entry, "id", "test_plan_name"),
        (ListRuns::entry, "multiplayer_run_id", "test.name"),
    ])
}

fn names_of(lists: &'static [NamedList]) -> ArgValueCompleter {
    // A shell shows a message amid the command line, so that a failure gives no candidates.
    ArgValueCompleter::new(move |typed: &OsStr| read(lists, &typed.to_string_lossy()).unwrap_or_default())
}

/// Reads the first page of each list from the service that the environment and the profile select. Offers each name once.
fn read(lists: &[NamedList], typed: &str) -> Result<Vec<CompletionCandidate>, CommandError> {
    let caller = build_caller(&Settings::read(None))?;
    let typed = typed.trim_start_matches(['\'', '"']);
    let mut offered = IndexMap::new();

    let read_all = async {
        for (list, id, name) in lists {
            let page_size = Fields::from_iter([("page_size".to_owned(), json!(100))]);
            let answer =
                caller.call(list(), ToolArguments::new(page_size, CommonArguments::default())).await?;
            let records = answer.value().get("data").and_then(Value::as_array).into_iter().flatten();
            offered.extend(records.filter_map(|record| candidate(record, [id, name], typed)));
        }
        Ok::<_, Failure>(())
    };
    let runtime = Builder::new_current_thread().enable_all().build()?;
    // What could be read in time is offered.
    drop(runtime.block_on(async { tokio::time::timeout(READ_LIMIT, read_all).await }));

    let offer = |(value, help): (String, String)| CompletionCandidate::new(value).help(Some(help.into()));
    Ok(offered.into_iter().map(offer).collect())
}

/// Returns the name of a record that begins with `typed`, or else its id, and the other one.
fn candidate(record: &Value, [id, name]: [&str; 2], typed: &str) -> Option<(String, String)> {
    let text = |field| Some(visible(field_at(record, field)?.as_str()?).into_owned());
    let (id, name) = (text(id)?, text(name)?);
    let (value, help) = if name.starts_with(typed) { (name, id) } else { (id, name) };
    value.starts_with(typed).then(|| (for_shell(&value), help))
}

/// Returns a value as it stands on the command line. The script of bash inserts it as it is; the other scripts quote it.
fn for_shell(value: &str) -> String {
    if IS_BASH.get() == Some(&true) { quoted(value) } else { value.to_owned() }
}
