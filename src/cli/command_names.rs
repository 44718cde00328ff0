//! The names of tools and arguments on the command line: commands and flags.

use std::borrow::Cow;

use super::next_command::quoted;
use crate::{
    text::guidance::OfferedTools,
    tools::catalog::{self, Tool},
};

/// Commands of their own for tools that users often use. Every other tool is `tas-mcp call NAME`.
pub(super) const COMMANDS: [(&str, &str); 20] = [
    ("start_run", "run"),
    ("start_test_plan_run", "run"),
    ("wait_for_completion", "wait"),
    ("summarize_results", "report"),
    ("describe_record", "show"),
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

/// Returns the flag of the argument `name`.
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
}
