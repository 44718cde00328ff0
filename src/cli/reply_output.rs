//! Prints the reply of a tool: JSON for programs; a table of a list, or indented JSON, for users. A list declares its
//! columns; verdicts have colours, and times are shown as ages.

use std::time::{Duration, SystemTime};

use anstyle::{AnsiColor, Style};
use clap::ArgMatches;
use jiff::Timestamp;
use serde_json::Value;

use super::{
    exit_status::CommandError,
    output::{print_line, print_table, prints_json, wants_json},
    table::{Cell, Table},
};
use crate::{
    call::reply::Reply,
    failure::{Code, Failure},
    fields::field_at,
    service::tool::{Column, ColumnFormat, FIELDS, ToolDefinition},
};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// How the reply of a tool is printed.
pub(super) struct ReplyOutput<'a> {
    tool: &'a ToolDefinition,
    json: bool,
    /// The fields that the user wants; empty for all.
    fields: Vec<&'a str>,
}

impl<'a> ReplyOutput<'a> {
    /// Returns the output that the flags of the command select.
    pub(super) fn new(tool: &'a ToolDefinition, matches: &'a ArgMatches) -> Self {
        let fields = matches.try_get_many::<String>(FIELDS).ok().flatten().into_iter().flatten();
        let fields = fields.flat_map(|names| names.split(',')).map(str::trim).collect();

        Self { tool, json: prints_json(wants_json(matches)), fields }
    }

    /// Prints the reply. The outer error is that a wanted field does not exist; the inner one that the output
    /// cannot be written.
    pub(super) fn print(&self, reply: &Reply) -> Result<std::io::Result<()>, CommandError> {
        let value = reply.value();
        self.check_fields(value)?;
        if self.json {
            return Ok(print_line(value));
        }

        let Some(records) = records(value) else { return Ok(print_line(format_args!("{value:#}"))) };
        let table = if !self.fields.is_empty() {
            field_table(&self.fields, records)
        } else if self.tool.columns.is_empty() {
            plain_table(records)
        } else {
            record_table(self.tool.columns, records, SystemTime::now())
        };

        Ok(print_table(table).and_then(|()| print_rest(value, records.len())))
    }

    /// Checks that the wanted fields exist. A field that exists may be absent from every record of a reply.
    fn check_fields(&self, value: &Value) -> Result<(), CommandError> {
        let names = |field: &str| {
            let names = value.get(field).and_then(Value::as_array).into_iter().flatten();
            names.filter_map(Value::as_str).map(|name| name.trim_start_matches("data.")).collect::<Vec<_>>()
        };
        let (missing, valid) = (names("fields_not_found"), names("valid_fields"));
        let unknown: Vec<_> = missing.into_iter().filter(|name| !valid.contains(name)).collect();
        if unknown.is_empty() || self.fields.is_empty() {
            return Ok(());
        }

        let message = format!("`--{FIELDS}`: records have no field {}", unknown.join(", "));
        let hint = match valid.as_slice() {
            [] => format!("see the records without `--{FIELDS}`"),
            valid => format!("valid fields: {}", valid.join(", ")),
        };
        Err(Failure::new(Code::InvalidArguments, message).hint(hint).into())
    }
}

/// Returns the records of a list that is not empty.
fn records(value: &Value) -> Option<&[Value]> {
    // A reply without `data` is a single record, which indented JSON shows better than a table.
    let records = value.get("data")?.as_array()?;
    records.first()?.is_object().then_some(records)
}

/// Returns the wanted fields of the records.
fn field_table(fields: &[&str], records: &[Value]) -> Table {
    let fields: Vec<_> = fields.iter().map(|field| field.trim_start_matches("data.")).collect();
    let mut table = Table::new(fields.iter().copied());
    for record in records {
        table.add_row(fields.iter().map(|field| field_at(record, field).map(plain_text).unwrap_or_default()));
    }

    table
}

/// Returns those fields of the records that are neither objects nor arrays.
fn plain_table(records: &[Value]) -> Table {
    let first = records.first().and_then(Value::as_object).into_iter().flatten();
    let is_plain = |value: &Value| !value.is_object() && !value.is_array();
    let columns: Vec<_> = first.filter(|(_, value)| is_plain(value)).map(|(name, _)| name.as_str()).collect();

    field_table(&columns, records)
}

/// Returns the records as a table with these columns. Ages are relative to `now`.
fn record_table(columns: &[Column], records: &[Value], now: SystemTime) -> Table {
    let mut table = Table::new(columns.iter().map(|column| column.header));
    for (index, column) in columns.iter().enumerate() {
        if column.format != ColumnFormat::Text {
            table.keep_whole(index);
        }
    }

    for record in records {
        table.add_row(columns.iter().map(|column| cell(column, record, now)));
    }

    table
}

/// Returns the style of a verdict, or of the state of what has none yet.
pub(super) fn verdict_style(verdict: &str) -> Style {
    let color = match verdict.to_ascii_uppercase().as_str() {
        "SUCCESS" | "PASSED" => AnsiColor::Green,
        "FAILED" => AnsiColor::Red,
        "ERROR" | "TIMEOUT" | "STOPPED" | "BLOCKED" | "SKIPPED" | "NOT STARTED" | "NOT READ" => {
            AnsiColor::Yellow
        }
        "QUEUED" | "STARTING" | "RUNNING" | "IN_PROGRESS" => AnsiColor::Cyan,
        _ => return Style::new(),
    };

    Style::new().fg_color(Some(color.into()))
}

fn cell(column: &Column, record: &Value, now: SystemTime) -> Cell {
    let Some(value) = column.value(record) else {
        return Cell::default();
    };
    let text = plain_text(value);

    match column.format {
        ColumnFormat::Text | ColumnFormat::Id => text.into(),
        ColumnFormat::Verdict => {
            let style = verdict_style(&text);
            Cell::from(text).styled(style)
        }
        ColumnFormat::Time => age(&text, now).unwrap_or(text).into(),
        ColumnFormat::Size => {
            value.as_u64().map_or(text, |bytes| indicatif::HumanBytes(bytes).to_string()).into()
        }
    }
}

/// Returns a value as text without quotes.
pub(super) fn plain_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns how long ago a time was; `None` if the text is not a time.
pub(super) fn age(time: &str, now: SystemTime) -> Option<String> {
    let time: Timestamp = time.parse().ok()?;
    let elapsed = Timestamp::try_from(now).ok()?.duration_since(time);
    let Ok(elapsed) = Duration::try_from(elapsed) else { return Some("in the future".to_owned()) };

    Some(match elapsed.as_secs() {
        seconds if seconds < MINUTE => "now".to_owned(),
        seconds if seconds < HOUR => format!("{} min ago", seconds / MINUTE),
        seconds if seconds < 2 * DAY => format!("{} h ago", seconds / HOUR),
        seconds => format!("{} days ago", seconds / DAY),
    })
}

/// Prints what the table does not show: further records, and pages that could not be read.
fn print_rest(value: &Value, shown: usize) -> std::io::Result<()> {
    let number = |path: &str| value.pointer(path).and_then(Value::as_u64);
    if let (Some(next), Some(total)) = (number("/next/page"), number("/pagination/total_count")) {
        print_line(format_args!("{total} records in total; next: --page {next}"))?;
    }
    if let Some(total) = number("/total_count").filter(|total| *total > shown as u64) {
        print_line(format_args!("{shown} of {total} records; more: --limit {total}"))?;
    }

    for omission in value.get("unread").and_then(Value::as_array).into_iter().flatten() {
        let text = |name: &str| omission.get(name).map(plain_text).unwrap_or_default();
        print_line(format_args!("not read: {}: {}", text("what"), text("why")))?;
    }

    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_becomes_a_table_of_its_plain_fields() {
        let list = json!({"data": [{"id": "a", "tags": [], "n": 1}, {"id": "b", "n": null}]});
        let table = plain_table(records(&list).expect("records"));
        assert_eq!(table.to_string(), "id  n\na   1\nb\n");

        for value in [json!({"data": []}), json!({"data": ["a"]}), json!({"id": "a"})] {
            assert!(records(&value).is_none(), "{value}");
        }
    }

    #[test]
    fn nested_fields_become_columns() {
        let records = [json!({"test": {"name": "Login"}}), json!({"test": null})];
        assert_eq!(field_table(&["test.name"], &records).to_string(), "test.name\nLogin\n\n");
    }

    #[test]
    fn a_time_is_shown_as_its_age() {
        let now = "2026-03-02T12:00:00Z".parse::<Timestamp>().expect("a time");
        let now = SystemTime::try_from(now).expect("a time of this system");

        for (time, expected) in [
            ("2026-03-02T12:00:00+00:00", Some("now")),
            ("2026-03-02T11:59:01Z", Some("now")),
            ("2026-03-02T11:01:00Z", Some("59 min ago")),
            ("2026-03-01T11:00:00Z", Some("25 h ago")),
            ("2026-02-27T11:00:00Z", Some("3 days ago")),
            ("2026-03-02T12:30:00Z", Some("in the future")),
            ("yesterday", None),
        ] {
            assert_eq!(age(time, now).as_deref(), expected, "{time}");
        }
    }

    #[test]
    fn the_first_field_with_a_value_is_shown() {
        let columns = [Column::verdict(&["result", "state"]), Column::text("device", &["players.0.kind"])];
        let records = [
            json!({"result": null, "state": "RUNNING", "players": [{"kind": "android"}]}),
            json!({"result": "FAILED", "state": "COMPLETED", "players": []}),
        ];
        let table = record_table(&columns, &records, SystemTime::UNIX_EPOCH);

        assert_eq!(table.to_string(), "verdict  device\nRUNNING  android\nFAILED\n");
    }
}
