//! The names of tools and arguments on the command line: commands and flags; and the command that a user types next, with the
//! settings of this one.

use std::borrow::Cow;

use crate::{
    settings::{self, Settings},
    text::guidance::OfferedTools,
    tools::catalog::{self, Tool},
};

/// Commands of their own for tools that users often use. Every other tool is `tas-mcp call NAME`.
pub(super) const COMMANDS: [(&str, &str); 21] = [
    ("start_run", "run"),
    ("start_test_plan_run", "run"),
    ("wait_for_completion", "wait"),
    ("summarize_results", "report"),
    ("describe_record", "show"),
    ("find_by_name", "show"),
    ("stop_runs", "stop"),
    ("rerun_results", "rerun"),
    ("export_tmsys_run", "export"),
    ("upload_build", "upload"),
    ("download_run_files", "download"),
    ("get_minion_download", "download minion"),
    ("list_run_artifacts", "files"),
    ("list_runs", "runs"),
    ("list_jobs", "jobs"),
    ("list_test_plans", "plans"),
    ("list_test_plan_executions", "executions"),
    ("list_tests", "tests"),
    ("list_builds", "builds"),
    ("list_deployment_configs", "devices"),
    ("list_bugs", "bugs"),
];

/// Flags of commands that have another name than the argument of the tool, some for one of its values.
const FLAGS: [(&str, &str); 6] = [
    ("project_id", "--project"),
    ("confirm: true", "--yes"),
    ("custom_run_name", "--name"),
    ("force_new_run: true", "--new"),
    ("force_new_run: false", "--new=false"),
    ("close_run_on_completion: false", "--keep-open"),
];

/// A user of the command line, who reads commands in place of tools and flags in place of arguments.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandLine;

impl OfferedTools for CommandLine {
    fn offered_name<'a>(&self, tool: &'a str) -> Option<Cow<'a, str>> {
        let command = COMMANDS.iter().find(|(name, _)| *name == tool).map(|(_, command)| *command);
        Some(match command {
            Some(command) => format!("tas-mcp {command}").into(),
            None => format!("tas-mcp call {tool}").into(),
        })
    }

    fn argument(&self, name: &str, value: Option<&str>) -> String {
        let Some(value) = value else { return flag(name) };
        let own = own_flag(&format!("{name}: {value}"));
        own.unwrap_or_else(|| format!("{} {}", flag(name), quoted(value.trim_matches('"'))))
    }
}

pub(super) fn flag(name: &str) -> String {
    own_flag(name).unwrap_or_else(|| format!("--{}", name.replace('_', "-")))
}

fn own_flag(argument: &str) -> Option<String> {
    FLAGS.iter().find(|(own, _)| *own == argument).map(|(_, flag)| (*flag).to_owned())
}

pub(super) fn tool_of_command(name: &str, subcommand: Option<&str>) -> Option<Tool> {
    let tool = COMMANDS.iter().find(|(_, command)| *command == name).map(|(tool, _)| *tool);

    catalog::find_tool(tool.or(subcommand)?)
}

/// Returns the message of a failure without the name of the tool that it begins with.
pub(super) fn without_tool(message: &str) -> &str {
    split_tool(message).map_or(message, |(_, reason)| reason)
}

/// Returns the message of a failure with what a user did in place of the tool that it begins with: what `tool` does, if it is given.
/// A question before a call begins with the tool and what it would do.
pub(super) fn with_action(message: &str, tool: Option<Tool>) -> Cow<'_, str> {
    if let Some((name, effect)) = message.split_once(' ')
        && catalog::find_tool(name).is_some()
    {
        return format!("this {effect}").into();
    }
    let Some((failed, reason)) = split_tool(message) else { return message.into() };
    let mut title = tool.unwrap_or(failed).title.chars();
    let first = title.next().map(|first| first.to_ascii_lowercase());

    format!("cannot {}{}: {reason}", first.map(String::from).unwrap_or_default(), title.as_str()).into()
}

fn split_tool(message: &str) -> Option<(Tool, &str)> {
    let (name, reason) = message.split_once(": ")?;
    Some((catalog::find_tool(name)?, reason))
}

/// Returns `word` with the quotes that a shell needs.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_./:=,@%+".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

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

/// Returns what a user can do with a sandbox: the lines with which another terminal uses it, and the first commands.
pub fn sandbox_guide(base_url: &str, knowledge_url: &str, key: &str) -> String {
    let [address, knowledge_address, secret] = settings::SERVICE_VARIABLES;
    let variables = [(address, base_url), (knowledge_address, knowledge_url), (secret, key)];
    let exports = variables.map(|(name, value)| format!("  export {name}={value}\n")).concat();
    let assignments = variables.map(|(name, value)| format!("  $env:{name} = \"{value}\"\n")).concat();

    format!(
        "\
To use this sandbox in another terminal, paste these lines there
{exports}
In PowerShell
{assignments}
Then try there
  tas-mcp runs --failed
  tas-mcp report \"Pause and resume\"

The key svc_org_sandbox is for all projects. Ctrl-C stops the sandbox."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::guidance::for_caller;

    #[test]
    fn arguments_become_flags_and_tools_become_commands() {
        for (text, expected) in [
            ("`tool:list_runs` lists runs", "`tas-mcp runs` lists runs"),
            ("with `argument:force_new_run: false`", "with `--new=false`"),
            ("see `tool:get_live_run`", "see `tas-mcp call get_live_run`"),
            ("pass `argument:project_id`", "pass `--project`"),
            ("pass `argument:project_id: \"the arena\"`", "pass `--project 'the arena'`"),
            ("call with `argument:confirm: true`", "call with `--yes`"),
            ("with `argument:compare_with: previous`", "with `--compare-with previous`"),
            ("the `version` of the record", "the `version` of the record"),
        ] {
            assert_eq!(for_caller(text, &CommandLine).as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_word_is_quoted_as_a_shell_reads_it() {
        for (word, expected) in [("a/b:c", "a/b:c"), ("x;y #", "'x;y #'"), ("a'b", r"'a'\''b'"), ("", "''")] {
            assert_eq!(quoted(word), expected);
        }
    }

    fn settings(arguments: &[&str]) -> Settings {
        let command = clap::Command::new("tas-mcp").args(settings::flags());
        let matches = command.get_matches_from([&["tas-mcp"], arguments].concat());
        Settings::from_sources(&matches, |name| (name == "TAS_API_KEY").then_some("svc_secret"))
    }

    #[test]
    fn advice_repeats_the_flags_but_no_secret() {
        for (arguments, expected) in [
            (&[][..], "continue with: tas-mcp wait j"),
            (
                &["--base-url", "https://tas.example/api/v1", "--project", "the arena", "--read-only"],
                "continue with: tas-mcp --base-url https://tas.example/api/v1 --project 'the arena' --read-only wait j",
            ),
            (&["--project", "svc_secret"], "continue with: tas-mcp wait j"),
            (
                &["--sandbox"],
                "the sandbox of this command ends with the command: to continue later, use `tas-mcp sandbox` in a second terminal",
            ),
        ] {
            assert_eq!(continue_with(&settings(arguments), &["wait", "j"]), expected);
        }
    }
}
