//! `tas-mcp completions`: prints a script with which a shell completes command lines. The script passes each incomplete
//! command line to the hidden command `tas-mcp complete`.

use std::{ffi::OsString, path::PathBuf};

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::engine::{self, CompletionCandidate};
use tokio::runtime::Handle;

use super::{
    calls::build_caller,
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    name_completion::{NameReader, with_names},
    output::print_text,
    shell_line::{Shell, ShellLine},
};
use crate::settings::Settings;

/// Commands that the help shows.
const EXAMPLES: [&str; 3] = [
    "source <(tas-mcp completions bash)",
    "tas-mcp completions zsh > ~/.zfunc/_tas-mcp",
    "tas-mcp completions fish > ~/.config/fish/completions/tas-mcp.fish",
];

/// Name of the hidden command.
const COMPLETE: &str = "complete";

const SHELL: &str = "shell";
const WORDS: &str = "words";

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let shell = Arg::new(SHELL).value_name("SHELL").required(true).value_parser(value_parser!(Shell));
    Command::new("completions")
        .about("Prints a completion script for a shell")
        .after_help(help_end(&EXAMPLES, ""))
        .arg(shell.help("Shell that runs the script"))
}

/// Prints the script of the shell.
pub(super) fn run(matches: &ArgMatches) -> Result<ExitStatus, CommandError> {
    let shell = matches.get_one::<Shell>(SHELL).copied().unwrap_or(Shell::Bash);
    let script = match shell {
        Shell::Bash => include_str!("completions/bash.sh"),
        Shell::Elvish => include_str!("completions/elvish.elv"),
        Shell::Fish => include_str!("completions/fish.fish"),
        Shell::Powershell => include_str!("completions/powershell.ps1"),
        Shell::Zsh => include_str!("completions/zsh.sh"),
    };
    print_text(script)?;

    Ok(ExitStatus::Success)
}

/// Returns the definition of the hidden command.
pub(super) fn complete_command() -> Command {
    let shell = Arg::new(SHELL).required(true).value_parser(value_parser!(Shell));
    let words = Arg::new(WORDS).num_args(0..).last(true).value_parser(value_parser!(OsString));
    Command::new(COMPLETE).about("Completes a command line for a shell").hide(true).arg(shell).arg(words)
}

/// Returns the parsed arguments of the command line that is to be completed, so that its settings apply. Returns `None`
/// for any other command.
pub fn completed_matches(matches: &ArgMatches, program: fn() -> Command) -> Option<ArgMatches> {
    let (COMPLETE, matches) = matches.subcommand()? else { return None };
    let mut words = command_line(matches).words;
    // The last word is incomplete.
    words.pop();

    program().ignore_errors(true).try_get_matches_from(words).ok()
}

/// Prints the candidates for the last word of the command line.
pub(super) async fn complete(
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

fn command_line(matches: &ArgMatches) -> ShellLine {
    let shell = matches.get_one::<Shell>(SHELL).copied().unwrap_or(Shell::Bash);
    let words = matches.get_many::<OsString>(WORDS).into_iter().flatten();
    ShellLine::from_arguments(shell, words.map(|word| word.to_string_lossy().into_owned()).collect())
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
