//! The output of commands: one result in the form that the flags select, and notes on standard error beside it.
//!
//! A pipe gets the text that a terminal shows, without colours, but the rows of a list with tabs between whole values. JSON and
//! CSV need a flag.

use std::{
    fmt::Display,
    io::{Error, ErrorKind, IsTerminal as _, Result, Write as _},
    path::Path,
};

use clap::Args;
use serde::Serialize;

use super::{
    exit_status::{CommandError, ExitStatus},
    table::Table,
};
use crate::text::{single_line, visible};

/// Flag that prints results and failures as JSON.
pub(super) const JSON: &str = "json";

// A doc comment would become the description of the command.
#[derive(Args)]
pub(super) struct JsonFlag {
    #[arg(long, help = "Print results and failures as JSON")]
    pub(super) json: bool,
}

// A doc comment would become the description of the command.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct OutputFlags {
    #[arg(long, help = "Print results and failures as JSON")]
    json: bool,

    #[arg(long, conflicts_with = JSON, help = "Print the rows as CSV")]
    csv: bool,
}

/// A result as people read it.
pub(super) enum Shown {
    Table(Table),
    /// A text without control characters, except for styles.
    Text(String),
}

impl From<Table> for Shown {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

impl From<String> for Shown {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// Standard output is a terminal.
    Text,
    /// Standard output is a pipe or a file.
    Rows,
    Csv,
    Json,
}

impl From<OutputFlags> for Output {
    fn from(flags: OutputFlags) -> Self {
        match std::io::stdout().is_terminal() {
            _ if flags.json => Self::Json,
            _ if flags.csv => Self::Csv,
            true => Self::Text,
            false => Self::Rows,
        }
    }
}

impl From<&JsonFlag> for Output {
    fn from(flag: &JsonFlag) -> Self {
        OutputFlags { json: flag.json, csv: false }.into()
    }
}

impl Output {
    pub(super) fn is_text(self) -> bool {
        self == Self::Text
    }

    /// Returns whether the rows of a table are printed, which do not say everything that the JSON says.
    pub(super) fn has_rows(self) -> bool {
        self != Self::Json
    }

    pub(super) fn is_for_programs(self) -> bool {
        matches!(self, Self::Csv | Self::Json)
    }

    /// Prints the result. `shown` is what people read. Returns `status`, or the status of an output that cannot be written.
    pub(super) fn print<S: Into<Shown>>(
        self,
        status: ExitStatus,
        result: &impl Serialize,
        shown: impl FnOnce() -> S,
    ) -> std::result::Result<ExitStatus, CommandError> {
        let printed = match (self, self.has_rows().then(|| shown().into())) {
            (Self::Text, Some(Shown::Table(table))) => print_table(table),
            (Self::Csv, Some(Shown::Table(table))) => print_text(table.csv()),
            (_, Some(Shown::Table(table))) => print_text(table.rows()),
            (_, Some(Shown::Text(text))) => write!(anstream::stdout(), "{text}"),
            (_, None) if std::io::stdout().is_terminal() => {
                print_line(format_args!("{:#}", serde_json::to_value(result)?))
            }
            (_, None) => print_line(serde_json::to_value(result)?),
        };

        Ok(status_after_output(status, printed))
    }
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
    // The cells contain no control characters.
    write!(anstream::stdout(), "{}", table.fit(terminal_width()))
}

/// Returns the width of the terminal that standard output is; `None` if it is none.
pub(super) fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0))
}

/// Prints a line for the user on standard error, beside the result.
pub(super) fn note(text: &str) {
    // If standard error is closed, the command continues without notes.
    drop(writeln!(anstream::stderr(), "{}", single_line(text)));
}

pub(super) fn note_written(path: &Path) {
    note(&format!("written: {}", path.display()));
}
