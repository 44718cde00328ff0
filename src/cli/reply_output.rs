//! Prints the reply of a tool: JSON for programs; a table of a list, or indented JSON, for users.

use std::time::SystemTime;

use clap::ArgMatches;
use serde_json::Value;

use super::{
    command_error::CommandError,
    output::{print_line, print_table, prints_json},
    record_table::{self, plain_text},
    table::Table,
    tool_arguments::wants_json,
};
use crate::{
    call::reply::Reply,
    failure::{Code, Failure},
    fields::field_at,
    service::tool::{FIELDS, ToolDefinition},
};

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
            record_table::table(self.tool.columns, records, SystemTime::now())
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
}
