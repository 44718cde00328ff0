//! The output of commands: JSON for programs, tables and text for users, and notes on standard error beside it.

use std::{
    fmt::Display,
    io::{Error, ErrorKind, IsTerminal as _, Result, Write as _},
    path::Path,
};

use clap::{Arg, ArgAction, ArgMatches, Args};
use serde::Serialize;

use super::{exit_status::ExitStatus, table::Table};
use crate::text::{single_line, visible};

/// Flag that prints results and failures as JSON.
pub(super) const JSON: &str = "json";

const JSON_HELP: &str = "Print results and failures as JSON, on a terminal too";

// The flag of `json_flag`, for commands with typed arguments. A doc comment would become the description of the command.
#[derive(Args)]
pub(super) struct JsonFlag {
    #[arg(long, help = JSON_HELP)]
    pub(super) json: bool,
}

pub(super) fn json_flag() -> Arg {
    Arg::new(JSON).long(JSON).action(ArgAction::SetTrue).help(JSON_HELP)
}

/// Returns whether results and failures are printed as JSON on a terminal too.
pub(super) fn wants_json(matches: &ArgMatches) -> bool {
    matches.get_flag(JSON)
}

/// Returns whether a result is printed as compact JSON: because `raw` asks for it, or because standard output is not a
/// terminal.
pub(super) fn prints_json(raw: bool) -> bool {
    raw || !std::io::stdout().is_terminal()
}

/// Returns the exit status of a command that has printed its result. An output that cannot be written is reported, and
/// replaces only the status of success. A closed pipe is not an error: a reader such as `head` has read enough.
pub(super) fn status_after_output(
    status: ExitStatus,
    printed: std::result::Result<(), impl Into<anyhow::Error>>,
) -> ExitStatus {
    let Err(error) = printed.map_err(Into::into) else { return status };
    if error.downcast_ref::<Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        return status;
    }

    // If standard error is closed too, the exit status is all that can be reported.
    drop(writeln!(anstream::stderr(), "tas-mcp: the output cannot be written: {error:#}"));

    if status == ExitStatus::Success { ExitStatus::Rejected } else { status }
}

pub(super) fn print_line(line: impl Display) -> Result<()> {
    print_text(format_args!("{line}\n"))
}

/// Prints a text that ends with a line break. Characters that a user cannot see are left out: they could control the
/// terminal or replace what it shows.
pub(super) fn print_text(text: impl Display) -> Result<()> {
    write!(anstream::stdout(), "{}", visible(&text.to_string()).replace('\r', ""))
}

/// Prints a table in the width of the terminal, with colours where the terminal shows them.
pub(super) fn print_table(table: Table) -> Result<()> {
    let width = terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
    // The cells contain no control characters.
    write!(anstream::stdout(), "{}", table.fit(width).with_styles())
}

/// Prints a result: JSON for programs, the table on a terminal.
pub(super) fn print_json_or_table(result: &impl Serialize, table: Table, raw: bool) -> Result<()> {
    if prints_json(raw) { print_line(serde_json::to_string(result)?) } else { print_table(table) }
}

/// Prints a line for the user on standard error, beside the result.
pub(super) fn note(text: &str) {
    // If standard error is closed, the command continues without notes.
    drop(writeln!(anstream::stderr(), "{}", single_line(text)));
}

/// Prints the path of a file that the command has written.
pub(super) fn note_written(path: &Path) {
    note(&format!("written: {}", path.display()));
}
