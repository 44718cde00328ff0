//! What a user types: texts of tools with flags instead of arguments and commands instead of tools, and the command to type
//! next, with the settings of this one.

use std::{borrow::Cow, collections::BTreeSet, sync::OnceLock};

use crate::{
    service::{
        schema,
        tool::{CONFIRM, FIELDS, PROJECT_ID},
    },
    settings::{self, Settings},
    tools::catalog::{self, Tool},
};

/// Commands of their own for tools that users often use. Every other tool is `tas-mcp call NAME`.
pub(super) const COMMANDS: [(&str, &str); 20] = [
    ("start_run", "run test"),
    ("start_test_plan_run", "run plan"),
    ("wait_for_completion", "wait"),
    ("summarize_results", "report"),
    ("describe_record", "show"),
    ("stop_runs", "stop"),
    ("rerun_results", "rerun"),
    ("export_tmsys_run", "export"),
    ("upload_build", "upload"),
    ("download_run_files", "download run"),
    ("download_minion", "download minion"),
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

/// Which names in backticks are arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Every name of an argument: the text is a rule about arguments.
    Arguments,
    /// Only names with an underscore: a text may also name fields of an answer, such as `version`.
    Mixed,
}

/// Returns `text` with the flags and commands of the command line in place of the arguments and tools that it names in
/// backticks.
pub(super) fn for_command_line(text: &str, names: Names) -> String {
    let spans = text.split('`').enumerate().map(|(index, span)| {
        // Every second part is between backticks.
        if index % 2 == 0 { Cow::Borrowed(span) } else { translated(span, names) }
    });

    spans.collect::<Vec<_>>().join("`")
}

/// Returns the flag of the argument `name`.
pub(super) fn flag(name: &str) -> String {
    if name == PROJECT_ID { "--project".to_owned() } else { format!("--{}", name.replace('_', "-")) }
}

/// Returns the message of a failure without the name of the tool that it begins with.
pub(super) fn without_tool(message: &str) -> &str {
    split_tool(message).map_or(message, |(_, reason)| reason)
}

/// Returns the tool that the command `name`, or its subcommand, is for.
pub(super) fn tool_of_command(name: &str, subcommand: Option<&str>) -> Option<Tool> {
    let command = subcommand.map_or_else(|| name.into(), |subcommand| format!("{name} {subcommand}"));
    let tool = COMMANDS.iter().find(|(_, of_tool)| *of_tool == command).map(|(tool, _)| *tool);

    catalog::find_tool(tool.or(subcommand)?)
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

/// Returns what a user types for the text of one pair of backticks.
fn translated(span: &str, names: Names) -> Cow<'_, str> {
    if let Some((_, command)) = COMMANDS.iter().find(|(tool, _)| *tool == span) {
        return format!("tas-mcp {command}").into();
    }
    if catalog::find_tool(span).is_some() {
        return format!("tas-mcp call {span}").into();
    }

    let (name, value) = span.split_once(": ").map_or((span, None), |(name, value)| (name, Some(value)));
    match value {
        Some("true") if name == CONFIRM => "--yes".into(),
        Some(value) if is_argument(name) => format!("{} {}", flag(name), as_word(value)).into(),
        None if is_argument(name) && (names == Names::Arguments || name.contains('_')) => flag(name).into(),
        _ => span.into(),
    }
}

/// Returns a value as a person can copy it into a shell. Values in double quotes may be names of the service.
fn as_word(value: &str) -> Cow<'_, str> {
    let inner = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value);
    let quoted = quoted(inner);
    if quoted == inner { value.into() } else { quoted.into() }
}

/// Returns whether a tool has an argument with this name.
fn is_argument(name: &str) -> bool {
    static NAMES: OnceLock<BTreeSet<String>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let common = [PROJECT_ID, FIELDS].map(str::to_owned);
        let own = catalog::tools().filter_map(|tool| {
            Some(schema::properties(tool.input_schema())?.keys().cloned().collect::<Vec<_>>())
        });

        own.flatten().chain(common).collect()
    });

    names.contains(name)
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

    #[test]
    fn arguments_become_flags_and_tools_become_commands() {
        for (text, names, expected) in [
            ("`list_runs` lists runs", Names::Mixed, "`tas-mcp runs` lists runs"),
            ("see `get_live_run`", Names::Mixed, "see `tas-mcp call get_live_run`"),
            ("pass `project_id`", Names::Mixed, "pass `--project`"),
            ("call with `confirm: true`", Names::Mixed, "call with `--yes`"),
            ("with `compare_with: previous`", Names::Mixed, "with `--compare-with previous`"),
            ("the `version` of the record", Names::Mixed, "the `version` of the record"),
            ("requires `instructions`", Names::Arguments, "requires `--instructions`"),
            ("an odd ` remains", Names::Mixed, "an odd ` remains"),
            ("", Names::Mixed, ""),
        ] {
            assert_eq!(for_command_line(text, names), expected);
        }
    }

    #[test]
    fn a_word_is_quoted_as_a_shell_reads_it() {
        for (word, expected) in [("a/b:c", "a/b:c"), ("a b", "'a b'"), ("a'b", r"'a'\''b'"), ("", "''")] {
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
