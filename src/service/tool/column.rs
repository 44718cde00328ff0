//! How users see the records of a list: the columns of a table.

use serde_json::Value;

use crate::fields::field_at;

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Name of the column.
    pub header: &'static str,
    /// Fields of a record, with dots and indices. The first one that has a value is shown.
    pub fields: &'static [&'static str],
    /// Meaning of the values.
    pub format: ColumnFormat,
}

/// Meaning of the values of a column, which decides how they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnFormat {
    /// A text, which is shortened where the terminal is too narrow.
    Text,
    /// An id, which is never shortened, because users copy it.
    Id,
    /// The result or state of a test.
    Verdict,
    /// A time, shown as an age.
    Time,
    /// A number of bytes.
    Size,
}

impl Column {
    /// Returns what a record has in this column.
    pub fn value<'a>(&self, record: &'a Value) -> Option<&'a Value> {
        self.fields.iter().find_map(|field| field_at(record, field))
    }

    /// A column of texts.
    pub const fn text(header: &'static str, fields: &'static [&'static str]) -> Self {
        Self { header, fields, format: ColumnFormat::Text }
    }

    /// A column of ids. The first one of a list identifies its records.
    pub const fn id(header: &'static str, fields: &'static [&'static str]) -> Self {
        Self { header, fields, format: ColumnFormat::Id }
    }

    /// A column of verdicts.
    pub const fn verdict(fields: &'static [&'static str]) -> Self {
        Self { header: "verdict", fields, format: ColumnFormat::Verdict }
    }

    /// A column of times. The first one of a list decides which records are the newest.
    pub const fn time(header: &'static str, fields: &'static [&'static str]) -> Self {
        Self { header, fields, format: ColumnFormat::Time }
    }

    /// A column of sizes in bytes.
    pub const fn size(fields: &'static [&'static str]) -> Self {
        Self { header: "size", fields, format: ColumnFormat::Size }
    }
}
