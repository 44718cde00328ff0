//! Advice on what to type next, which works with the settings of this command.

use std::io::Write as _;

use clap::ArgMatches;

use super::{failure_output::OutputFormat, quoting::quoted};
use crate::settings::{self, Settings};

/// Commands that use the service. Only they have data that a new sandbox lacks.
const COMMANDS_WITH_DATA: [&str; 8] =
    ["call", "run", "wait", "stop", "report", "export", "upload", "download"];

/// What a user must know about a sandbox that is part of a command.
const SANDBOX_NOTE: &str = "\
note: each command with --sandbox starts a new sandbox with new data, which ends with the command.
      To keep one, run `tas-mcp sandbox` in a second terminal, and paste the lines that it prints into this one.";

/// Returns the advice to continue with `command`: its words, without the name of the program, such as `wait`, `--job-id` and
/// an id.
pub(super) fn continue_with(settings: &Settings, command: &[&str]) -> String {
    match next_command(settings, command) {
        Some(command) => format!("continue with: {command}"),
        None => "the sandbox of this command ends with the command: to continue later, use `tas-mcp sandbox` in a second terminal".to_owned(),
    }
}

/// Returns the words of `command` as a user can type them after this command: with the program, and with the settings that
/// were given as flags. Every word is quoted, because users and agents run such lines unread. It contains no secret, because
/// a secret has no flag. Returns `None` for an embedded sandbox, whose records the next command does not find.
pub(super) fn next_command(settings: &Settings, command: &[&str]) -> Option<String> {
    let flags = settings.given_flags();
    let words = flags.iter().map(String::as_str).chain(command.iter().copied()).map(quoted);
    let words: Vec<_> = std::iter::once("tas-mcp".to_owned()).chain(words).collect();

    (!settings.wants_sandbox()).then(|| words.join(" "))
}

/// Says on standard error what becomes of the data of an embedded sandbox.
pub(super) fn explain_embedded_sandbox(name: &str, matches: &ArgMatches, settings: &Settings) {
    let is_for_program = OutputFormat::from_matches(matches) == OutputFormat::Json;
    if !settings.wants_sandbox() || !COMMANDS_WITH_DATA.contains(&name) || is_for_program {
        return;
    }

    // Without standard error, the command works all the same.
    drop(writeln!(anstream::stderr(), "{SANDBOX_NOTE}"));
}

/// Returns the lines with which a terminal uses a sandbox that runs in another one.
pub fn sandbox_exports(base_url: &str, knowledge_url: &str, key: &str) -> String {
    let variables = settings::service_variables(base_url, knowledge_url, key);
    let exports = variables.map(|(name, value)| format!("  export {name}={value}\n")).concat();
    let assignments = variables.map(|(name, value)| format!("  $env:{name} = \"{value}\"\n")).concat();

    format!(
        "To use this sandbox in another terminal, paste these lines there\n{exports}\nIn PowerShell\n{assignments}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(arguments: &[&str]) -> Settings {
        let command = clap::Command::new("tas-mcp").args(settings::flags());
        let matches = command.get_matches_from([&["tas-mcp"], arguments].concat());
        Settings::from_sources(&matches, |name| (name == "TAS_API_KEY").then_some("svc_secret"))
    }

    #[test]
    fn advice_repeats_the_flags_but_no_secret() {
        for (arguments, expected) in [
            (&[][..], "continue with: tas-mcp wait --job-id j"),
            (
                &["--base-url", "https://tas.example/api/v1", "--project", "the arena", "--read-only"],
                "continue with: tas-mcp --base-url https://tas.example/api/v1 --project 'the arena' --read-only wait --job-id j",
            ),
            (&["--project", "svc_secret"], "continue with: tas-mcp wait --job-id j"),
        ] {
            assert_eq!(continue_with(&settings(arguments), &["wait", "--job-id", "j"]), expected);
        }
    }

    #[test]
    fn every_word_of_advice_is_one_word_for_a_shell() {
        let advice = continue_with(&settings(&[]), &["wait", "x;touch y #"]);
        assert_eq!(advice, "continue with: tas-mcp wait 'x;touch y #'");
    }

    #[test]
    fn advice_names_no_record_of_a_sandbox_that_has_ended() {
        let advice = continue_with(&settings(&["--sandbox"]), &["wait", "--job-id", "j"]);

        assert!(advice.contains("tas-mcp sandbox") && !advice.contains("--job-id"), "{advice}");
    }
}
