//! Tables with aligned columns for a terminal, and the same rows for programs: separated by tabs, or as CSV.

use std::fmt;

use clap::builder::styling::Style;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::text::visible;

/// Width to which a column is shortened at least, in columns of the terminal.
const MIN_COLUMN_WIDTH: usize = 8;

/// Spaces between two columns.
const GAP: &str = "  ";

/// First characters of a formula of a spreadsheet, in both widths.
const FORMULA_SIGNS: [char; 8] = ['=', '+', '-', '@', '\u{FF1D}', '\u{FF0B}', '\u{FF0D}', '\u{FF20}'];

/// Rows below a header. A column that is empty in every row is not printed on a terminal.
#[derive(Debug, Default)]
pub(super) struct Table {
    header: Vec<String>,
    rows: Vec<Row>,
    /// Columns whose cells are never shortened.
    whole_columns: Vec<usize>,
    /// Columns that only programs get.
    program_columns: Vec<usize>,
    /// Width of the terminal; `None` if there is none, so that nothing is shortened.
    width: Option<usize>,
}

#[derive(Debug)]
struct Row {
    cells: Vec<Cell>,
    /// A sentence below the row, which is never shortened.
    note: String,
}

/// A cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    text: String,
    /// What programs get in place of a text that is short for people.
    exact: Option<String>,
    style: Style,
}

impl Cell {
    /// Sets the style. It is left out where the output shows no colours.
    pub(super) fn styled(self, style: Style) -> Self {
        Self { style, ..self }
    }

    /// Sets what programs get in place of the text: a time in place of an age.
    pub(super) fn exactly(self, exact: &str) -> Self {
        Self { exact: Some(one_line(exact)), ..self }
    }

    /// Returns what people read.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    fn exact(&self) -> &str {
        self.exact.as_deref().unwrap_or(&self.text)
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: one_line(&text.into()), ..Self::default() }
    }
}

impl Table {
    /// Returns a table without rows.
    pub(super) fn new(header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { header: header.into_iter().map(|name| one_line(&name.into())).collect(), ..Self::default() }
    }

    /// Never shortens the cells of the column with this index.
    pub(super) fn keep_whole(&mut self, column: usize) {
        self.whole_columns.push(column);
    }

    /// Prints the column with this index only for programs.
    pub(super) fn keep_for_programs(&mut self, column: usize) {
        self.program_columns.push(column);
    }

    pub(super) fn add_row(&mut self, cells: impl IntoIterator<Item = impl Into<Cell>>) {
        let cells = cells.into_iter().map(Into::into).collect();
        self.rows.push(Row { cells, note: String::new() });
    }

    /// Adds a sentence below the last row.
    pub(super) fn add_note(&mut self, note: &str) {
        if let Some(row) = self.rows.last_mut() {
            row.note = one_line(note);
        }
    }

    /// Returns whether the table has no rows.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Keeps the first rows only.
    pub(super) fn truncate(&mut self, rows: usize) {
        self.rows.truncate(rows);
    }

    /// Shortens the cells so that a line fits into `width`, if possible.
    pub(super) fn fit(self, width: Option<usize>) -> Self {
        Self { width, ..self }
    }

    /// Shows the ids of a column by their beginnings, which differ from each other and have at least eight characters.
    /// Programs get the whole ids.
    pub(super) fn shorten_ids(&mut self, column: usize) {
        const SHORTEST: usize = 8;
        /// An id that is hardly longer stays whole, as those of runs do.
        const SHORT_ENOUGH: usize = 12;

        self.keep_whole(column);
        let ids = || self.rows.iter().filter_map(|row| row.cells.get(column)).map(Cell::exact);
        let common = |one: &str, other: &str| {
            one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count()
        };
        let mut sorted: Vec<_> = ids().collect();
        sorted.sort_unstable();
        sorted.dedup();
        let longest_common = sorted.windows(2).map(|pair| match pair {
            [one, other] => common(one, other),
            _ => 0,
        });
        let length = longest_common.max().map_or(SHORTEST, |common| SHORTEST.max(common + 1));

        for cell in self.rows.iter_mut().filter_map(|row| row.cells.get_mut(column)) {
            let id = cell.exact().to_owned();
            if id.chars().count() > SHORT_ENOUGH {
                cell.text = id.chars().take(length).collect();
                cell.exact = Some(id);
            }
        }
    }

    fn is_shown(&self, column: usize) -> bool {
        !self.program_columns.contains(&column)
    }

    /// Returns the width of each column; 0 for a column that is not printed.
    fn column_widths(&self) -> Vec<usize> {
        let columns = self.header.len();
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
        let widths = self.rows.iter().map(|row| row.cells.get(column).map_or(0, |cell| cell.text.width()));
        let is_filled = self.is_empty() || widths.clone().any(|width| width > 0);
        let header = self.header.get(column).map_or(0, |header| header.width());

        if is_filled && self.is_shown(column) { widths.max().unwrap_or(0).max(header) } else { 0 }
    }

    /// Returns the lines, with the codes of the styles if `has_styles`.
    fn lines(&self, has_styles: bool) -> String {
        let widths = self.column_widths();
        let plain = Style::new();
        let header = self.header.iter().map(|name| (name.as_str(), plain)).collect();
        let mut lines = line(header, &widths, has_styles);

        for row in &self.rows {
            let cells = row.cells.iter().map(|cell| (cell.text.as_str(), cell.style)).collect();
            lines += &line(cells, &widths, has_styles);
            if !row.note.is_empty() {
                lines.extend([GAP, &row.note, "\n"]);
            }
        }

        lines
    }

    /// Returns the lines with the codes of the styles.
    pub(super) fn with_styles(&self) -> String {
        self.lines(true)
    }

    /// Returns the rows for programs: without header, with tabs between the exact values of all columns that a terminal
    /// shows.
    pub(super) fn rows(&self) -> String {
        let row = |row: &Row| {
            let cells = row.cells.iter().enumerate().filter(|(column, _)| self.is_shown(*column));
            let values: Vec<_> = cells.map(|(_, cell)| cell.exact()).collect();
            values.join("\t") + "\n"
        };
        self.rows.iter().map(row).collect()
    }

    /// Returns the header and the rows with the exact values of all columns as CSV.
    pub(super) fn csv(&self) -> String {
        let header = self.header.iter().map(|name| csv_value(name)).collect::<Vec<_>>();
        let rows = self.rows.iter().map(|row| row.cells.iter().map(|cell| csv_value(cell.exact())).collect());

        std::iter::once(header).chain(rows).map(|values: Vec<_>| values.join(",") + "\n").collect()
    }
}

/// Returns a value of CSV. A name that a spreadsheet would compute as a formula begins with an apostrophe, which spreadsheets take
/// for the sign of a text.
fn csv_value(value: &str) -> String {
    let is_formula = value.starts_with(FORMULA_SIGNS) && value.parse::<f64>().is_err();
    let text = if is_formula { format!("'{value}") } else { value.to_owned() };
    if text.contains(['"', ',']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// Returns a line of cells with these widths. A column of the width 0 is left out.
fn line(cells: Vec<(&str, Style)>, widths: &[usize], has_styles: bool) -> String {
    let mut line = String::new();
    for ((text, style), width) in cells.into_iter().zip(widths).filter(|(_, width)| **width > 0) {
        let text = shortened(text, *width);
        let padding = width.saturating_sub(text.width()) + GAP.len();
        if has_styles && !text.is_empty() {
            line.extend([style.render().to_string(), text, style.render_reset().to_string()]);
        } else {
            line.push_str(&text);
        }
        line.extend(std::iter::repeat_n(' ', padding));
    }

    line.trim_end().to_owned() + "\n"
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

/// Returns `text` in at most `width` columns, with an ellipsis for its middle: names often differ at their ends.
pub(super) fn shortened(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }

    // One column remains for the ellipsis. The end gets more than the beginning.
    let available = width.saturating_sub(1);
    let beginning = fitting(text.chars(), available / 2);
    let mut end: Vec<_> = fitting(text.chars().rev(), available - available / 2);
    end.reverse();
    // A combining character without its letter would change the ellipsis.
    let end = end.into_iter().skip_while(|character| character.width() == Some(0));

    beginning.into_iter().chain(['…']).chain(end).collect()
}

/// Returns the first characters that fit into `width`.
fn fitting(characters: impl Iterator<Item = char>, width: usize) -> Vec<char> {
    let mut used = 0;
    let fits = |character: &char| {
        used += character.width().unwrap_or(0);
        used <= width
    };
    characters.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use clap::builder::styling::AnsiColor;

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
    fn the_middle_of_a_long_cell_is_cut_at_its_display_width() {
        for (text, expected) in [
            ("a".repeat(10), "a".repeat(10)),
            ("Emberfall nightly 413".to_owned(), "Embe…y 413".to_owned()),
            ("日".repeat(5), "日".repeat(5)),
            ("日".repeat(6), "日日…日日".to_owned()),
            ("e\u{301}".repeat(10), "e\u{301}".repeat(10)),
            ("e\u{301}".repeat(11), format!("{}…{}", "e\u{301}".repeat(4), "e\u{301}".repeat(5))),
        ] {
            assert_eq!(shortened(&text, 10), expected, "{text}");
            assert!(shortened(&text, 10).width() <= 10, "{text}");
        }
        assert_eq!(one_line("one\ntwo\u{1b}"), "one two ");
    }

    #[test]
    fn the_widest_columns_are_shortened_to_the_terminal_and_whole_ones_never() {
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

    #[test]
    fn programs_get_exact_values_and_whole_ids() {
        let id = |beginning: &str| format!("{beginning}-7e26-4277-b803-02ab60676871");
        let mut table = Table::new(["age", "name", "more", "id"]);
        for (index, beginning) in ["0016157b1", "0016157b2"].into_iter().enumerate() {
            let age = Cell::from("3h").exactly("2026-03-02T12:00:00Z");
            table.add_row([age, format!("a, \"{index}\"").into(), "m".into(), id(beginning).into()]);
        }
        table.keep_for_programs(2);
        table.shorten_ids(3);

        assert!(table.to_string().ends_with("3h   a, \"1\"  0016157b2\n"), "{table}");
        let time = "2026-03-02T12:00:00Z";
        assert!(table.rows().starts_with(&format!("{time}\ta, \"0\"\t{}\n", id("0016157b1"))));
        let csv = format!("age,name,more,id\n{time},\"a, \"\"0\"\"\",m,{}\n", id("0016157b1"));
        assert!(table.csv().starts_with(&csv), "{}", table.csv());
    }

    #[test]
    fn a_spreadsheet_computes_no_name_in_csv() {
        for (value, expected) in [
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("=HYPERLINK(\"http://a\",1)", "\"'=HYPERLINK(\"\"http://a\"\",1)\""),
            ("@SUM(1)", "'@SUM(1)"),
            ("+1+1", "'+1+1"),
            ("-1+1", "'-1+1"),
            ("\u{FF1D}1", "'\u{FF1D}1"),
            ("-1.5", "-1.5"),
            ("a=b", "a=b"),
        ] {
            assert_eq!(csv_value(value), expected);
        }
    }
}
