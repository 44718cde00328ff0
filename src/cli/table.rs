//! Tables with aligned columns.

use std::fmt;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::text::visible;

/// Maximum width of a cell, in columns of the terminal. A longer text is cut and ends with an ellipsis.
const MAX_CELL_WIDTH: usize = 48;

/// Rows below a header. A column that is empty in every row is not printed.
#[derive(Debug)]
pub(super) struct Table {
    /// The header and the rows.
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Returns a table without rows.
    pub(super) fn new(header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { rows: vec![header.into_iter().map(Into::into).collect()] }
    }

    /// Adds a row.
    pub(super) fn add_row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(|cell| printable(&cell.into())).collect());
    }

    /// Returns whether the table has no rows.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }

    /// Returns the width of each column; 0 for a column that is not printed.
    fn column_widths(&self) -> Vec<usize> {
        let columns = self.rows.first().map_or(0, Vec::len);
        (0..columns).map(|column| self.column_width(column)).collect()
    }

    fn column_width(&self, column: usize) -> usize {
        let widths = self.rows.iter().map(|row| row.get(column).map_or(0, |cell| cell.width()));
        let is_filled = self.is_empty() || widths.clone().skip(1).any(|width| width > 0);

        if is_filled { widths.max().unwrap_or(0) } else { 0 }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.column_widths();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).filter(|(_, width)| **width > 0);
            let cells: Vec<_> = cells.map(|(cell, width)| padded(cell, *width)).collect();
            writeln!(formatter, "{}", cells.join("  ").trim_end())?;
        }

        Ok(())
    }
}

/// Returns `text` as one line without control characters that is at most [`MAX_CELL_WIDTH`] wide.
fn printable(text: &str) -> String {
    // A control character could move the cursor or change colours of the terminal.
    let spaced: String =
        text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    let line = visible(&spaced).into_owned();
    if line.width() <= MAX_CELL_WIDTH {
        return line;
    }

    // One column remains for the ellipsis.
    let mut width = 0;
    let fitting = line.chars().take_while(|character| {
        width += character.width().unwrap_or(0);
        width < MAX_CELL_WIDTH
    });

    fitting.chain(['…']).collect()
}

/// Returns `text` with spaces up to `width`. The padding of `format!` counts characters, but a character may be two
/// columns wide or none.
fn padded(text: &str, width: usize) -> String {
    let padding = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(padding))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_display_width() {
        let cases = [
            ("plain", 5),
            // Wide characters occupy two columns.
            ("日本", 6),
            ("🎮", 8),
            // A combining accent occupies none.
            ("e\u{301}", 9),
        ];

        for (cell, padding) in cases {
            let mut table = Table::new(["0123456789", "next"]);
            table.add_row([cell, "x"]);
            let expected = format!("0123456789  next\n{cell}{}  x\n", " ".repeat(padding));
            assert_eq!(table.to_string(), expected, "{cell}");
        }
    }

    #[test]
    fn a_long_cell_is_cut_at_its_display_width() {
        for (text, expected) in [
            ("a".repeat(48), "a".repeat(48)),
            ("a".repeat(49), format!("{}…", "a".repeat(47))),
            ("日".repeat(24), "日".repeat(24)),
            ("日".repeat(25), format!("{}…", "日".repeat(23))),
            ("e\u{301}".repeat(48), "e\u{301}".repeat(48)),
            ("one\ntwo\u{1b}".to_owned(), "one two ".to_owned()),
        ] {
            assert_eq!(printable(&text), expected, "{text}");
            assert!(printable(&text).width() <= MAX_CELL_WIDTH, "{text}");
        }
    }

    #[test]
    fn an_empty_column_is_not_printed() {
        let mut table = Table::new(["name", "note"]);
        assert_eq!(table.to_string(), "name  note\n");
        table.add_row(["a", ""]);
        assert_eq!(table.to_string(), "name\na\n");
    }
}
