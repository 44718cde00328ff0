//! Texts of tools in the words of the command line: flags instead of arguments, commands instead of tools.

use std::{borrow::Cow, collections::BTreeSet, sync::OnceLock};

use super::quoting::quoted;
use crate::{
    service::{
        schema,
        tool::{CONFIRM, FIELDS, PROJECT_ID},
    },
    tools::catalog,
};

/// Commands of their own for tools that users often use. Every other tool is `tas-mcp call NAME`.
pub(super) const COMMANDS: [(&str, &str); 17] = [
    ("start_run", "run test"),
    ("start_test_plan_run", "run plan"),
    ("wait_for_completion", "wait"),
    ("summarize_results", "report"),
    ("stop_runs", "stop"),
    ("export_tmsys_run", "export"),
    ("upload_build", "upload"),
    ("download_run_files", "download run"),
    ("download_minion", "download minion"),
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
    format!("--{}", name.replace('_', "-"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_become_flags_and_tools_become_commands() {
        for (text, names, expected) in [
            ("`list_runs` lists runs", Names::Mixed, "`tas-mcp runs` lists runs"),
            ("see `get_live_run`", Names::Mixed, "see `tas-mcp call get_live_run`"),
            ("pass `project_id`", Names::Mixed, "pass `--project-id`"),
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
}
