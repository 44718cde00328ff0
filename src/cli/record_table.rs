//! Records as tables for users: the columns that the list declares, verdicts in colour, and ages instead of times.

use std::time::{Duration, SystemTime};

use anstyle::{AnsiColor, Style};
use jiff::Timestamp;
use serde_json::Value;

use super::table::{Cell, Table};
use crate::service::tool::{Column, ColumnFormat};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Returns the records as a table with these columns. Ages are relative to `now`.
pub(super) fn table(columns: &[Column], records: &[Value], now: SystemTime) -> Table {
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
        ColumnFormat::Size => value.as_u64().map_or(text, size).into(),
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
fn age(time: &str, now: SystemTime) -> Option<String> {
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

/// Returns a number of bytes in the unit that fits.
fn size(bytes: u64) -> String {
    indicatif::HumanBytes(bytes).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
        let table = table(&columns, &records, SystemTime::UNIX_EPOCH);

        assert_eq!(table.to_string(), "verdict  device\nRUNNING  android\nFAILED\n");
    }
}
