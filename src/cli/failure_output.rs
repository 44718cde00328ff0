//! Prints failures on standard error: as text for users, as JSON for programs.

use std::{ffi::OsString, io::Write as _};

use clap::ArgMatches;

use super::{
    command_line_text::{Names, flag, for_command_line, with_action},
    exit_status::ExitStatus,
    output::{Format, JSON, OUTPUT},
};
use crate::{
    failure::{Code, Failure},
    service::tool::SWITCHED_OFF,
    text::single_line,
    violation::Violation,
};

/// How results and failures are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputFormat {
    /// For users: tables, and messages with flags and commands.
    Text,
    /// The JSON of the tools.
    Json,
}

impl OutputFormat {
    /// Returns the format that the flags of the command select.
    pub(super) fn from_matches(matches: &ArgMatches) -> Self {
        let leaf = std::iter::successors(Some(matches), |matches| Some(matches.subcommand()?.1)).last();
        let flag = leaf.and_then(|leaf| leaf.try_get_one::<bool>(JSON).ok().flatten());
        let format = leaf.and_then(|leaf| leaf.try_get_one::<Format>(OUTPUT).ok().flatten());
        let is_json = matches!(format, Some(Format::Json | Format::Jsonl));

        // The arguments of an unknown tool are not parsed.
        let unknown = leaf.and_then(|leaf| leaf.try_get_many::<OsString>("").ok().flatten());
        let is_named = unknown.into_iter().flatten().any(|argument| argument == "--json");

        if is_named || is_json || flag == Some(&true) { Self::Json } else { Self::Text }
    }

    /// Prints a failure and returns its exit status.
    pub(super) fn print(self, failure: &Failure) -> ExitStatus {
        let failure = failure.clone().visible();
        let text = match self {
            Self::Text => text(&failure),
            Self::Json => failure.to_json(),
        };

        // If standard error is closed, the exit status is all that can be reported.
        drop(writeln!(anstream::stderr(), "{text}"));

        exit_status(&failure)
    }

    /// Prints a failure that occurred after requests had been sent, and returns its exit status.
    pub(super) fn print_after_requests(self, failure: &Failure) -> ExitStatus {
        self.print(failure);
        ExitStatus::after_requests(failure.code)
    }
}

/// Returns the exit status of a failure. A write that may have happened is an unknown outcome, whatever its code is.
fn exit_status(failure: &Failure) -> ExitStatus {
    if failure.facts.is_uncertain { ExitStatus::OutcomeUnknown } else { failure.code.into() }
}

/// Returns the message, a line for each violation, and what to do next.
fn text(failure: &Failure) -> String {
    if let Some((_, setting)) = failure.message.split_once(SWITCHED_OFF)
        && failure.code == Code::InvalidArguments
    {
        let setting = single_line(setting);
        return format!(
            "error: this command changes something, and {setting} allows reading only\nhint: nothing was sent; `tas-mcp config list` shows where {setting} is set"
        );
    }

    let violations = &failure.facts.violations;
    if violations.is_empty() {
        let choices = failure.facts.choices.iter().map(|choice| format!("\n  {}", single_line(choice)));
        let choices: String = choices.collect();
        let hint = hint(&failure.hint.to_string());
        return format!("error: {}{choices}\nhint: {hint}", line(&with_action(&failure.message)));
    }

    let lines: Vec<_> = violations.iter().map(violation_line).collect();
    let omitted = match failure.facts.violations_omitted {
        0 => String::new(),
        count => format!("\n  and {count} more"),
    };

    match lines.as_slice() {
        [only] => format!("error: {only}\nhint: nothing was sent"),
        _ => format!("error: invalid arguments\n  {}{omitted}\nhint: nothing was sent", lines.join("\n  ")),
    }
}

/// Returns a hint for a user of the command line, which is no server that could be restarted, and prints no details.
fn hint(text: &str) -> String {
    let hint = line(text).replace(", and restart the server", "");
    if hint.contains("`details.") { hint + "; `--json` shows the details" } else { hint }
}

/// Returns a text in the words of the command line, as one line: a line break in a text of the service must not look like a line
/// of this program.
pub(super) fn line(text: &str) -> String {
    for_command_line(&single_line(text), Names::Mixed)
}

/// Returns a violation as a sentence about a flag.
fn violation_line(violation: &Violation) -> String {
    let path = single_line(&violation.path);
    let rule = |names| for_command_line(&single_line(&violation.rule), names);

    match path.split_once('.') {
        _ if path.is_empty() => rule(Names::Arguments),
        None => format!("`{}` {}", flag(&path), rule(Names::Arguments)),
        // The rule of a field in an argument may name other fields.
        Some((argument, inner)) => format!("`{}`: `{inner}` {}", flag(argument), rule(Names::Mixed)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{service::tool::ToolDefinition, tools::catalog};

    fn find_tool(name: &str) -> &'static ToolDefinition {
        catalog::find_tool(name).expect("a tool").info
    }

    #[test]
    fn a_failure_is_text_with_flags_and_commands() {
        let violations = [
            Violation::new("page_size", "must be from 1 to 100, got 0"),
            Violation::new("patch.nam", "is not a known field; `name` is"),
            Violation::new("", "exactly one of `run_id`, `job_id` must be provided, got none"),
        ];
        let cases = [
            (
                Failure::new(Code::InvalidArguments, find_tool("stop_runs").switched_off_by("TAS_READ_ONLY")),
                "error: this command changes something, and TAS_READ_ONLY allows reading only\nhint: nothing was sent; `tas-mcp config list` shows where TAS_READ_ONLY is set",
            ),
            (
                Failure::new(Code::NotFound, "get_run: run zzz\nwas not found").hint("see `list_runs`"),
                "error: cannot get a run: run zzz was not found\nhint: see `tas-mcp runs`",
            ),
            (
                Failure::new(Code::ConfirmationRequired, "upload_build deletes builds")
                    .hint("see `details.x`"),
                "error: this deletes builds\nhint: see `details.x`; `--json` shows the details",
            ),
            (
                Failure::invalid_arguments("x", &violations[..1]),
                "error: `--page-size` must be from 1 to 100, got 0\nhint: nothing was sent",
            ),
            (
                Failure::invalid_arguments("x", &violations),
                "error: invalid arguments\n  `--page-size` must be from 1 to 100, got 0\n  `--patch`: `nam` is not a known field; `name` is\n  exactly one of `--run-id`, `--job-id` must be provided, got none\nhint: nothing was sent",
            ),
        ];

        for (failure, expected) in cases {
            assert_eq!(text(&failure), expected);
        }
    }

    #[test]
    fn an_uncertain_failure_has_an_unknown_outcome() {
        let failure = Failure::new(Code::ServiceUnavailable, "start_run: 503").uncertain("look");
        assert_eq!(exit_status(&failure), ExitStatus::OutcomeUnknown);
    }
}
