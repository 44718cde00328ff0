//! Tables with aligned columns.

use std::fmt;

use anstyle::Style;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::text::visible;

/// Width to which a column is shortened at least, in columns of the terminal.
const MIN_COLUMN_WIDTH: usize = 8;

/// Spaces between two columns.
const GAP: &str = "  ";

/// Rows below a header. A column that is empty in every row is not printed.
#[derive(Debug)]
pub(super) struct Table {
    /// The header and the rows.
    rows: Vec<Vec<Cell>>,
    /// Columns whose cells are never shortened.
    whole_columns: Vec<usize>,
    /// Width of the terminal; `None` if there is none, so that nothing is shortened.
    width: Option<usize>,
}

/// A cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// Sets the style. It is left out where the output shows no colours.
    pub(super) fn styled(self, style: Style) -> Self {
        Self { style, ..self }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: one_line(&text.into()), style: Style::new() }
    }
}

impl Table {
    /// Returns a table without rows.
    pub(super) fn new(header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let header = header.into_iter().map(|cell| Cell::from(cell.into())).collect();
        Self { rows: vec![header], whole_columns: Vec::new(), width: None }
    }

    /// Never shortens the cells of the column with this index.
    pub(super) fn keep_whole(&mut self, column: usize) {
        self.whole_columns.push(column);
    }

    /// Adds a row.
    pub(super) fn add_row(&mut self, cells: impl IntoIterator<Item = impl Into<Cell>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Returns whether the table has no rows.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }

    /// Shortens the cells so that a line fits into `width`, if possible.
    pub(super) fn fit(self, width: Option<usize>) -> Self {
        Self { width, ..self }
    }

    /// Returns the width of each column; 0 for a column that is not printed.
    fn column_widths(&self) -> Vec<usize> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let mut widths: Vec<_> = (0..columns).map(|column| self.column_width(column)).collect();
        let Some(available) = self.width else { return widths };

        let printed = widths.iter().filter(|width| **width > 0).count();
        let gaps = GAP.len() * printed.saturating_sub(1);
        let can_shrink = |column: &usize| !self.whole_columns.contains(column);
        while gaps + widths.iter().sum::<usize>() > available {
            // The widest column loses least by the loss of a character.
            let widest = (0..columns).filter(can_shrink).max_by_key(|column| widths.get(*column).copied());
            match widest.and_then(|column| widths.get_mut(column)) {
                Some(width) if *width > MIN_COLUMN_WIDTH => *width -= 1,
                _ => break,
            }
        }

        widths
    }

    fn column_width(&self, column: usize) -> usize {
        let widths = self.rows.iter().map(|row| row.get(column).map_or(0, |cell| cell.text.width()));
        let is_filled = self.is_empty() || widths.clone().skip(1).any(|width| width > 0);

        if is_filled { widths.max().unwrap_or(0) } else { 0 }
    }

    /// Returns the lines, with the codes of the styles if `has_styles`.
    fn lines(&self, has_styles: bool) -> String {
        let widths = self.column_widths();
        let mut lines = String::new();

        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths).filter(|(_, width)| **width > 0) {
                let text = shortened(&cell.text, *width);
                let padding = width.saturating_sub(text.width()) + GAP.len();
                if has_styles && !text.is_empty() {
                    let style = cell.style;
                    line.extend([style.render().to_string(), text, style.render_reset().to_string()]);
                } else {
                    line.push_str(&text);
                }
                line.extend(std::iter::repeat_n(' ', padding));
            }

            lines.push_str(line.trim_end());
            lines.push('\n');
        }

        lines
    }

    /// Returns the lines with the codes of the styles.
    pub(super) fn with_styles(&self) -> String {
        self.lines(true)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.lines(false))
    }
}

/// Returns `text` as one line without characters that nobody sees. They could move the cursor or change colours.
fn one_line(text: &str) -> String {
    let spaced: String =
        text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    visible(&spaced).into_owned()
}

/// Returns the beginning of `text` that fits into `width`, with an ellipsis if something is missing.
fn shortened(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }

    // One column remains for the ellipsis.
    let mut used = 0;
    let fitting = text.chars().take_while(|character| {
        used += character.width().unwrap_or(0);
        used < width
    });

    fitting.chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use anstyle::AnsiColor;

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
    fn a_long_cell_is_shortened_at_its_display_width() {
        for (text, expected) in [
            ("a".repeat(10), "a".repeat(10)),
            ("a".repeat(11), format!("{}…", "a".repeat(9))),
            ("日".repeat(5), "日".repeat(5)),
            ("日".repeat(6), format!("{}…", "日".repeat(4))),
            ("e\u{301}".repeat(10), "e\u{301}".repeat(10)),
        ] {
            assert_eq!(shortened(&text, 10), expected, "{text}");
            assert!(shortened(&text, 10).width() <= 10, "{text}");
        }
        assert_eq!(one_line("one\ntwo\u{1b}"), "one two ");
    }

    #[test]
    fn the_widest_columns_are_shortened_to_the_terminal_and_ids_never() {
        let mut table = Table::new(["test", "note", "id"]);
        table.keep_whole(2);
        table.add_row(["a".repeat(30), "b".repeat(12), "c".repeat(12)]);

        for (width, expected) in [
            (None, [30, 12, 12]),
            (Some(58), [30, 12, 12]),
            (Some(48), [20, 12, 12]),
            (Some(38), [11, 11, 12]),
            (Some(10), [8, 8, 12]),
        ] {
            table = table.fit(width);
            assert_eq!(table.column_widths(), expected, "{width:?}");
        }
    }

    #[test]
    fn styles_do_not_change_the_alignment() {
        let mut table = Table::new(["verdict", "test"]);
        let style = Style::new().fg_color(Some(AnsiColor::Red.into()));
        table.add_row([Cell::from("FAILED").styled(style), Cell::from("Login")]);

        assert_eq!(table.with_styles(), "verdict  test\n\u{1b}[31mFAILED\u{1b}[0m   Login\n");
        assert_eq!(table.to_string(), "verdict  test\nFAILED   Login\n");
    }

    #[test]
    fn an_empty_column_is_not_printed() {
        let mut table = Table::new(["name", "note"]);
        assert_eq!(table.to_string(), "name  note\n");
        table.add_row(["a", ""]);
        assert_eq!(table.to_string(), "name\na\n");
    }
}
