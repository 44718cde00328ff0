//! Prints failures on standard error: as text for users, as JSON for programs.

use std::{ffi::OsString, io::Write as _};

use clap::ArgMatches;

use super::{
    command_names::{CommandLine, flag, tool_of_command, with_action},
    exit_status::ExitStatus,
    output::{JSON, disarmed_json, print_error},
};
use crate::{
    failure::{Cause, Code, Failure, Violation},
    settings::READ_ONLY,
    text::{guidance::Guidance, single_line},
    tools::catalog::Tool,
};

/// Prints the failures of a command: as text with flags and commands for users, or as the JSON of the tools for programs.
#[derive(Clone, Copy, Debug)]
pub(super) struct FailureOutput {
    is_json: bool,
    /// The tool that does the same as the command; `None` if no tool does.
    tool: Option<Tool>,
}

impl FailureOutput {
    pub(super) fn from_matches(matches: &ArgMatches) -> Self {
        let leaf = std::iter::successors(Some(matches), |matches| Some(matches.subcommand()?.1)).last();
        let flag = leaf.and_then(|leaf| leaf.try_get_one::<bool>(JSON).ok().flatten());

        // The arguments of an unknown tool are not parsed.
        let unknown = leaf.and_then(|leaf| leaf.try_get_many::<OsString>("").ok().flatten());
        let is_named = unknown.into_iter().flatten().any(|argument| argument == "--json");

        Self { is_json: is_named || flag == Some(&true), tool: None }
    }

    /// Returns the same output for the command `name` with these arguments.
    pub(super) fn of_command(self, name: &str, matches: &ArgMatches) -> Self {
        Self { tool: tool_of_command(name, matches.subcommand_name()), ..self }
    }

    pub(super) fn is_json(self) -> bool {
        self.is_json
    }

    pub(super) fn print(self, failure: &Failure) -> ExitStatus {
        let failure = failure.clone().visible();
        if self.is_json {
            // If standard error is closed, the exit status is all that can be reported.
            drop(writeln!(anstream::stderr(), "{}", disarmed_json(&failure.to_json())));
        } else {
            print_error(&format!("{}\n", text(&failure, self.tool)));
        }

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

/// Returns the message, a line for each violation, and what to do next. `tool` is what the command does.
fn text(failure: &Failure, tool: Option<Tool>) -> String {
    if failure.facts.cause == Some(Cause::ReadOnly) {
        return format!(
            "error: this command changes something, and {READ_ONLY} allows reading only\nhint: nothing was sent; `tas-mcp status` shows where {READ_ONLY} is set"
        );
    }

    let violations = &failure.facts.violations;
    if violations.is_empty() {
        let choices = failure.facts.choices.iter().map(|choice| format!("\n  {}", single_line(choice)));
        let choices: String = choices.collect();
        let message = with_action(&failure.message, tool.filter(|_| is_of_every_request(failure.code)));
        return format!("error: {}{choices}\nhint: {}", single_line(&message), hint(&failure.hint));
    }

    let lines: Vec<_> = violations.iter().map(violation_line).collect();
    match lines.as_slice() {
        [only] => format!("error: {only}\nhint: nothing was sent"),
        _ => format!("error: invalid arguments\n  {}\nhint: nothing was sent", lines.join("\n  ")),
    }
}

/// Returns whether every request of a command can fail with this code. The message then names what the command does, and not the
/// request that happened to be the first.
fn is_of_every_request(code: Code) -> bool {
    matches!(code, Code::ServiceUnavailable | Code::Unauthenticated | Code::NotConfigured | Code::RateLimited)
}

/// Returns a hint as a line for a user, to whom the details are not printed.
pub(super) fn hint(hint: &Guidance) -> String {
    let line = guidance_line(hint);
    if line.contains("`details.") { line + "; `--json` shows the details" } else { line }
}

/// Returns a text of this program as one line, with commands and flags: a line break in a text of the service must not look like a
/// line of this program.
fn guidance_line(guidance: &Guidance) -> String {
    single_line(&guidance.for_caller(&CommandLine).unwrap_or_default())
}

fn violation_line(violation: &Violation) -> String {
    let (path, rule) = (single_line(&violation.path), guidance_line(&violation.rule));

    match path.split_once('.') {
        _ if path.is_empty() => rule,
        None => format!("`{}` {rule}", flag(&path)),
        // A flag may be repeated, and the number of an item means nothing to its user.
        Some((argument, inner)) if inner.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("`{}` {rule}", flag(argument))
        }
        Some((argument, inner)) => format!("`{}`: `{inner}` {rule}", flag(argument)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_uncertain_failure_has_an_unknown_outcome() {
        let failure = Failure::new(Code::ServiceUnavailable, "start_run: 503").uncertain("look");
        assert_eq!(exit_status(&failure), ExitStatus::OutcomeUnknown);
    }

    #[test]
    fn violations_are_sentences_about_flags() {
        let violations = [
            Violation::new("page_size", "must be from 1 to 100, got 0"),
            Violation::new("patch.nam", "is not a known field; `name` is"),
            Violation::new("", "exactly one of `argument:run_id`, `argument:job_id` must be provided"),
        ];
        let failure = Failure::invalid_arguments("x", &violations);

        let expected = "error: invalid arguments\n  `--page-size` must be from 1 to 100, got 0\n  `--patch`: `nam` is not a known field; `name` is\n  exactly one of `--run-id`, `--job-id` must be provided\nhint: nothing was sent";
        assert_eq!(text(&failure, None), expected);
    }
}
