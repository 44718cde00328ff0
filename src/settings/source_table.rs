//! A table of a file of settings, whose problems name lines.

use toml_edit::{Item, TableLike};

use super::unusable_file::FileProblem;
use crate::toml_text::line_number;

/// A table, with the text that it is a part of.
pub(super) struct SourceTable<'a> {
    pub(super) text: &'a str,
    pub(super) table: &'a dyn TableLike,
}

impl<'a> SourceTable<'a> {
    /// Returns the table that is the value `item` of the field `name`. Any other value is a problem in the line of `name`.
    pub(super) fn below(&self, name: &str, item: &'a Item) -> Result<Self, FileProblem> {
        let table = item.as_table_like().ok_or("must be a table");
        Ok(Self { text: self.text, table: self.located(name, table)? })
    }

    /// Returns the value, or its error, which is the end of a sentence that begins with `name`, with the line of `name`.
    pub(super) fn located<T, E: AsRef<str>>(
        &self,
        name: &str,
        value: Result<T, E>,
    ) -> Result<T, FileProblem> {
        value.map_err(|reason| self.problem(name, format!("`{name}` {}", reason.as_ref())))
    }

    /// Returns a problem in the line of `name`.
    pub(super) fn problem(&self, name: &str, reason: String) -> FileProblem {
        let span = self.table.get_key_value(name).and_then(|(key, _)| key.span());
        let line = span.map_or(1, |span| line_number(self.text, &span));
        FileProblem::Content { line, reason }
    }
}
