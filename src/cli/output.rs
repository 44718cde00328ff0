//! Prints results on standard output: JSON for programs, tables and indented JSON for people.

use std::io::{Error, ErrorKind, IsTerminal as _, Result, Write as _};

use serde::Serialize;
use serde_json::Value;

use super::{exit_status::ExitStatus, table::Table};
use crate::{call::reply::Reply, text::visible};

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

/// Prints one line.
pub(super) fn print_line(line: impl std::fmt::Display) -> Result<()> {
    print_text(format_args!("{line}\n"))
}

/// Prints a text that ends with a line break. Characters that a person cannot see are left out: they could control the
/// terminal or replace what it shows.
pub(super) fn print_text(text: impl std::fmt::Display) -> Result<()> {
    write!(anstream::stdout(), "{}", visible(&text.to_string()).replace('\r', ""))
}

/// Prints a result: JSON in a pipe, the table on a terminal.
pub(super) fn print_json_or_table(result: &impl Serialize, table: &Table) -> Result<()> {
    if prints_json(false) { print_line(serde_json::to_string(result)?) } else { print_text(table) }
}

/// Prints the reply of a tool. On a terminal a list becomes a table, and any other reply indented JSON.
pub(super) fn print_reply(reply: &Reply, raw: bool) -> Result<()> {
    let value = reply.value();
    if prints_json(raw) {
        return print_line(value);
    }
    let Some(table) = list_table(value) else { return print_line(format_args!("{value:#}")) };

    print_text(table)?;
    let number = |path: &str| value.pointer(path).and_then(Value::as_u64);
    match (number("/next/page"), number("/pagination/total_count")) {
        (Some(next), Some(total)) => {
            print_line(format_args!("{total} records in total; next: --page {next}"))
        }
        _ => Ok(()),
    }
}

/// Returns the records of a list as a table of those fields that are neither objects nor arrays.
fn list_table(value: &Value) -> Option<Table> {
    // A reply without `data` is a single record, which indented JSON shows better than a table.
    let records = value.get("data")?.as_array()?;
    let first = records.first()?.as_object()?;
    let is_plain = |value: &Value| !value.is_object() && !value.is_array();
    let columns: Vec<_> =
        first.iter().filter(|(_, value)| is_plain(value)).map(|(name, _)| name.as_str()).collect();

    let mut table = Table::new(columns.iter().copied());
    for record in records {
        table.add_row(columns.iter().map(|name| cell(record.get(name))));
    }

    Some(table)
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::list_table;

    #[test]
    fn a_list_becomes_a_table_of_its_plain_fields() {
        for (value, expected) in [
            (
                json!({"data": [{"id": "a", "tags": [], "n": 1}, {"id": "b", "n": null}]}),
                Some("id  n\na   1\nb\n"),
            ),
            (json!({"data": []}), None),
            (json!({"data": ["a"]}), None),
            (json!({"id": "a"}), None),
        ] {
            assert_eq!(list_table(&value).map(|table| table.to_string()).as_deref(), expected, "{value}");
        }
    }
}
