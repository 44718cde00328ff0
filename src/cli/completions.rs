//! Completion of command lines: `tas-mcp completions` prints the script that registers this program with a shell, and the
//! script runs the program with the variable `TAS_COMPLETE`.

use std::{ffi::OsString, io, path::Path};

use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use clap_complete::{
    CompleteEnv, Shell,
    engine::{self, CompletionCandidate},
    env::{self, EnvCompleter, Shells},
};

use super::{
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    name_completion::{NameReader, StartSandbox, with_names},
    output::print_text,
    shell_line::ShellLine,
};
/// Commands that the help shows.
const EXAMPLES: [&str; 3] = [
    "source <(tas-mcp completions bash)",
    "tas-mcp completions zsh > ~/.zfunc/_tas-mcp",
    "tas-mcp completions fish > ~/.config/fish/completions/tas-mcp.fish",
];

/// Variable with the name of the shell whose command line is to be completed.
const VARIABLE: &str = "TAS_COMPLETE";

/// Name of the program on the command line and in the scripts.
const PROGRAM: &str = "tas-mcp";

/// What zsh needs beside the script of the library if it loads the script from a file: the file is the function that
/// completes for the first time.
const ZSH_FIRST_TIME: &str = r#"
if [[ ${funcstack[1]} == _tas-mcp ]]; then
    _clap_dynamic_completer_tas_mcp "$@"
fi
"#;

const SHELLS: [Shell; 5] = [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh];

#[derive(Args)]
struct CompletionsArguments {
    /// Shell that runs the script
    shell: Shell,
}

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let command = Command::new("completions")
        .about("Prints a completion script for a shell")
        .after_help(help_end(&EXAMPLES, ""));

    CompletionsArguments::augment_args(command)
}

/// Prints the script of the shell.
pub(super) fn run(matches: &ArgMatches) -> Result<ExitStatus, CommandError> {
    let arguments = CompletionsArguments::from_arg_matches(matches)?;
    print_text(completion_script(arguments.shell)?)?;

    Ok(ExitStatus::Success)
}

/// Returns the script with which a shell completes command lines.
///
/// # Errors
/// The library cannot write it.
pub fn completion_script(shell: Shell) -> io::Result<String> {
    let mut script = Vec::new();
    write_script(shell, PROGRAM, PROGRAM, &mut script)?;

    Ok(String::from_utf8_lossy(&script).into_owned())
}

/// Completes a command line of `program` if the script of a shell has started it. Returns whether it has.
///
/// # Errors
/// The variable names no shell, or the candidates cannot be written.
pub fn complete_command_line(
    program: fn() -> Command,
    start_sandbox: StartSandbox,
) -> clap::error::Result<bool> {
    let completers = SHELLS.map(|shell| Completer { shell, program, start_sandbox });
    let completers = completers.each_ref().map(|completer| completer as &dyn EnvCompleter);
    let directory = std::env::current_dir().ok();

    CompleteEnv::with_factory(program)
        .var(VARIABLE)
        .shells(Shells(&completers))
        .try_complete(std::env::args_os(), directory.as_deref())
}

/// A shell of the library. In addition, words are read as the shell quotes them, and names are read from the service.
struct Completer {
    shell: Shell,
    program: fn() -> Command,
    start_sandbox: StartSandbox,
}

impl EnvCompleter for Completer {
    fn name(&self) -> &'static str {
        of_library(self.shell).name()
    }

    fn is(&self, name: &str) -> bool {
        of_library(self.shell).is(name)
    }

    fn write_registration(
        &self,
        _variable: &str,
        _name: &str,
        program: &str,
        completer: &str,
        output: &mut dyn io::Write,
    ) -> io::Result<()> {
        write_script(self.shell, program, completer, output)
    }

    /// Writes the candidates for the last word. An error gives none, because a shell shows messages amid the line.
    fn write_complete(
        &self,
        program: &mut Command,
        arguments: Vec<OsString>,
        directory: Option<&Path>,
        output: &mut dyn io::Write,
    ) -> io::Result<()> {
        let line = ShellLine::from_arguments(self.shell, arguments);
        let reader = NameReader::new(&line.words, self.program, self.start_sandbox);
        let candidates = find_candidates(with_names(program.clone(), &reader), &line.words, directory);

        output.write_all(line.render(&candidates).as_bytes())
    }
}

/// Returns what the library has for a shell.
fn of_library(shell: Shell) -> &'static dyn EnvCompleter {
    match shell {
        Shell::Elvish => &env::Elvish,
        Shell::Fish => &env::Fish,
        Shell::PowerShell => &env::Powershell,
        Shell::Zsh => &env::Zsh,
        _ => &env::Bash,
    }
}

fn write_script(shell: Shell, program: &str, completer: &str, output: &mut dyn io::Write) -> io::Result<()> {
    match shell {
        // The script of the library inserts a name as it is: in bash 5.2, `Pause and resume` became three words. The words
        // that it passes are separated at `=` and `:`, too.
        Shell::Bash => return output.write_all(include_bytes!("completions/bash.sh")),
        // The script of the library evaluates the incomplete command line, so that a tabulator would run `$(..)`, and it
        // inserts names without quotation marks.
        Shell::PowerShell => return output.write_all(include_bytes!("completions/powershell.ps1")),
        _ => of_library(shell).write_registration(VARIABLE, PROGRAM, program, completer, output)?,
    }

    if shell == Shell::Zsh { output.write_all(ZSH_FIRST_TIME.as_bytes()) } else { Ok(()) }
}

/// Returns the candidates for the last of `words`.
fn find_candidates(
    mut program: Command,
    words: &[String],
    directory: Option<&Path>,
) -> Vec<CompletionCandidate> {
    let (last, is_empty) = (words.len().saturating_sub(1), words.last().is_none_or(String::is_empty));
    let words = words.iter().map(Into::into).collect();
    let mut candidates = engine::complete(&mut program, words, last, directory).unwrap_or_default();

    // Flags are offered with the other candidates only after a dash.
    let is_flag = |candidate: &CompletionCandidate| candidate.get_value().to_string_lossy().starts_with('-');
    if is_empty && !candidates.iter().all(is_flag) {
        candidates.retain(|candidate| !is_flag(candidate));
    }

    candidates
}
