//! `tas-mcp complete`: completes a command line for the scripts of `tas-mcp completions`. Not shown in the help.

mod command_line;
mod shell_words;

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::engine::{self, CompletionCandidate};
use tokio::runtime::Handle;

use self::command_line::CommandLine;
use super::{
    caller::build_caller,
    command_error::CommandError,
    exit_status::ExitStatus,
    name_completion::{NameReader, with_names},
    output::print_text,
    shell::Shell,
};
use crate::settings::Settings;

/// Name of the command.
const NAME: &str = "complete";

const SHELL: &str = "shell";
const WORDS: &str = "words";

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let shell = Arg::new(SHELL).required(true).value_parser(value_parser!(Shell));
    let words = Arg::new(WORDS).num_args(0..).last(true).value_parser(value_parser!(std::ffi::OsString));
    Command::new(NAME).about("Completes a command line for a shell").hide(true).arg(shell).arg(words)
}

/// Returns the parsed arguments of the command line that is to be completed, so that its settings apply. Returns `None`
/// for any other command.
pub fn completed_matches(matches: &ArgMatches, program: fn() -> Command) -> Option<ArgMatches> {
    let (NAME, matches) = matches.subcommand()? else { return None };
    let mut words = command_line(matches).words;
    // The last word is incomplete.
    words.pop();

    program().ignore_errors(true).try_get_matches_from(words).ok()
}

/// Prints the candidates for the last word of the command line.
pub(super) async fn run(
    matches: &ArgMatches,
    settings: &Settings,
    program: Command,
) -> Result<ExitStatus, CommandError> {
    let line = command_line(matches);
    let words = line.words.clone();
    let reader = NameReader::new(build_caller(settings).ok(), Handle::current());

    // The engine asks for names in a function that is not asynchronous, so it needs a thread of its own.
    let search = tokio::task::spawn_blocking(move || find_candidates(words, program, &reader));
    let candidates = search.await.unwrap_or_default();
    print_text(line.render(&candidates))?;

    Ok(ExitStatus::Success)
}

fn command_line(matches: &ArgMatches) -> CommandLine {
    let shell = matches.get_one::<Shell>(SHELL).copied().unwrap_or(Shell::Bash);
    let words = matches.get_many::<std::ffi::OsString>(WORDS).into_iter().flatten();
    CommandLine::from_arguments(shell, words.map(|word| word.to_string_lossy().into_owned()).collect())
}

/// Returns the candidates for the last word. An error gives no candidates, because a shell shows messages amid the
/// line.
fn find_candidates(
    words: Vec<String>,
    mut program: Command,
    reader: &NameReader,
) -> Vec<CompletionCandidate> {
    let (last, is_empty) = (words.len().saturating_sub(1), words.last().is_none_or(String::is_empty));
    // The subcommands are complete only after this.
    program.build();
    let mut program = with_names(program, reader);
    let directory: Option<PathBuf> = std::env::current_dir().ok();

    let words = words.into_iter().map(Into::into).collect();
    let mut candidates =
        engine::complete(&mut program, words, last, directory.as_deref()).unwrap_or_default();

    // Flags are offered with the other candidates only after a dash.
    let is_flag = |candidate: &CompletionCandidate| candidate.get_value().to_string_lossy().starts_with('-');
    if is_empty && !candidates.iter().all(is_flag) {
        candidates.retain(|candidate| !is_flag(candidate));
    }

    candidates
}
