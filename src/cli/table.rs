//! Tables with aligned columns for a terminal, and the same rows for programs: separated by tabs, or as CSV.

use std::{collections::BTreeSet, fmt};

use clap::builder::styling::Style;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::text::visible;

/// Width to which a column is shortened at least, in columns of the terminal.
const MIN_COLUMN_WIDTH: usize = 8;

const GAP: &str = "  ";

/// First characters of a formula of a spreadsheet, in both widths.
const FORMULA_SIGNS: [char; 8] = ['=', '+', '-', '@', '\u{FF1D}', '\u{FF0B}', '\u{FF0D}', '\u{FF20}'];

/// Shortest shown beginning of an id. An id that is hardly longer stays whole, as those of runs do, where there is place.
const SHORTEST_ID: usize = 8;
const SHORT_ID: usize = 12;

/// Number of rows from which a text that all of them have is said once.
const MIN_COMMON_ROWS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// The middle of a text is cut where the terminal is narrow.
    Cut,
    /// The cells are never shortened.
    Whole,
    /// Ids, which are shown by beginnings that differ from each other: long ones always, short ones where the terminal is narrow.
    Id,
    /// Only programs get the column.
    Programs,
}

/// Rows below a header. A column that is empty in every row is not printed on a terminal.
#[derive(Debug, Default)]
pub(super) struct Table {
    columns: Vec<(String, Fit)>,
    rows: Vec<Row>,
    /// Width of the terminal; `None` if there is none, so that nothing is shortened.
    width: Option<usize>,
}

#[derive(Debug)]
struct Row {
    cells: Vec<Cell>,
    /// A sentence below the row, which is never shortened.
    note: String,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    text: String,
    /// What programs get in place of a text that is short for people.
    exact: Option<String>,
    style: Style,
}

impl Cell {
    pub(super) fn styled(self, style: Style) -> Self {
        Self { style, ..self }
    }

    /// Sets what programs get in place of the text: a time in place of an age.
    pub(super) fn exactly(self, exact: &str) -> Self {
        Self { exact: Some(one_line(exact)), ..self }
    }

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
    pub(super) fn new(header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let columns = header.into_iter().map(|name| (one_line(&name.into()), Fit::Cut)).collect();
        Self { columns, ..Self::default() }
    }

    /// Sets how some columns, by their index, behave on a terminal.
    pub(super) fn fitting(mut self, columns: impl IntoIterator<Item = usize>, fit: Fit) -> Self {
        for index in columns {
            if let Some((_, own)) = self.columns.get_mut(index) {
                *own = fit;
            }
        }
        self
    }

    pub(super) fn add_row(&mut self, cells: impl IntoIterator<Item = impl Into<Cell>>) {
        let cells = cells.into_iter().map(Into::into).collect();
        self.rows.push(Row { cells, note: String::new() });
    }

    pub(super) fn add_note(&mut self, note: &str) {
        if let Some(row) = self.rows.last_mut() {
            row.note = one_line(note);
        }
    }

    pub(super) fn truncate(&mut self, rows: usize) {
        self.rows.truncate(rows);
    }

    /// Shortens the cells so that a line fits into `width`, if possible.
    pub(super) fn fit(self, width: Option<usize>) -> Self {
        Self { width, ..self }
    }

    /// Returns what a terminal shows: the cells of each column, and its width. Ids are cut before names.
    fn layout(&self) -> (Vec<Vec<&str>>, Vec<usize>) {
        let shown =
            |longest_id| (0..self.columns.len()).map(|column| self.shown(column, longest_id)).collect();
        let whole: Vec<_> = shown(SHORT_ID);
        let widths = self.widths(&whole);
        let Some(available) = self.width.filter(|available| line_width(&widths) > *available) else {
            return (whole, widths);
        };

        let short: Vec<_> = shown(SHORTEST_ID);
        let mut widths = self.widths(&short);
        while line_width(&widths) > available {
            // The widest column loses least by the loss of a character.
            let can_shrink = self.columns.iter().map(|(_, fit)| *fit == Fit::Cut);
            let shrinking = widths.iter_mut().zip(can_shrink).filter_map(|(width, can)| can.then_some(width));
            match shrinking.max() {
                Some(width) if *width > MIN_COLUMN_WIDTH => *width -= 1,
                _ => break,
            }
        }

        (short, widths)
    }

    /// Returns what a terminal shows in a column; nothing in a column for programs, and in one that is said below the rows.
    fn shown(&self, column: usize, longest_id: usize) -> Vec<&str> {
        let texts = self.texts(column);
        match self.columns.get(column).map_or(Fit::Cut, |(_, fit)| *fit) {
            Fit::Cut if self.constant(column).is_some() => texts.iter().map(|_| "").collect(),
            Fit::Cut | Fit::Whole => texts,
            Fit::Programs => texts.iter().map(|_| "").collect(),
            Fit::Id => beginnings(&texts, longest_id),
        }
    }

    fn texts(&self, column: usize) -> Vec<&str> {
        self.rows.iter().map(|row| row.cells.get(column).map_or("", Cell::text)).collect()
    }

    /// Returns the text of a column that several rows have in common, which a terminal shows once.
    fn constant(&self, column: usize) -> Option<&str> {
        let (_, fit) = self.columns.get(column)?;
        let texts = self.texts(column);
        let first = texts.first().filter(|first| !first.is_empty())?;
        let is_said_once = self.width.is_some() && *fit == Fit::Cut && texts.len() >= MIN_COMMON_ROWS;

        (is_said_once && texts.iter().all(|text| text == first)).then_some(first)
    }

    /// Returns the width of each column; 0 for a column that is not printed.
    fn widths(&self, shown: &[Vec<&str>]) -> Vec<usize> {
        let width = |((header, _), texts): (&(String, Fit), &Vec<&str>)| {
            let widest = texts.iter().map(|text| text.width()).max().unwrap_or(0);
            if widest > 0 { widest.max(header.width()) } else { 0 }
        };
        self.columns.iter().zip(shown).map(width).collect()
    }

    /// Returns the rows for programs: without header, with tabs between the exact values of all columns that a terminal
    /// shows.
    pub(super) fn rows(&self) -> String {
        let row = |row: &Row| {
            let cells = row.cells.iter().zip(&self.columns).filter(|(_, (_, fit))| *fit != Fit::Programs);
            cells.map(|(cell, _)| cell.exact()).collect::<Vec<_>>().join("\t") + "\n"
        };
        self.rows.iter().map(row).collect()
    }

    pub(super) fn csv(&self) -> String {
        let header = self.columns.iter().map(|(name, _)| csv_value(name)).collect::<Vec<_>>();
        let rows = self.rows.iter().map(|row| row.cells.iter().map(|cell| csv_value(cell.exact())).collect());

        std::iter::once(header).chain(rows).map(|values: Vec<_>| values.join(",") + "\n").collect()
    }
}

/// Writes the lines for a terminal, with the codes of the styles; nothing if there are no rows.
impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.is_empty() {
            return Ok(());
        }
        let (shown, widths) = self.layout();
        let header = self.columns.iter().map(|(name, _)| (name.as_str(), Style::new()));
        write_line(formatter, header, &widths)?;

        for (index, row) in self.rows.iter().enumerate() {
            let texts = shown.iter().map(|texts| texts.get(index).copied().unwrap_or_default());
            write_line(formatter, texts.zip(row.cells.iter().map(|cell| cell.style)), &widths)?;
            if !row.note.is_empty() {
                writeln!(formatter, "{GAP}{}", row.note)?;
            }
        }

        let common = (0..self.columns.len()).zip(&self.columns);
        let common =
            common.filter_map(|(column, (name, _))| Some(format!("{name} {}", self.constant(column)?)));
        let common = common.collect::<Vec<_>>().join(", ");
        if common.is_empty() { Ok(()) } else { writeln!(formatter, "all: {common}") }
    }
}

/// Writes a line of cells with these widths. A column of the width 0 is left out.
fn write_line<'a>(
    formatter: &mut fmt::Formatter<'_>,
    cells: impl Iterator<Item = (&'a str, Style)>,
    widths: &[usize],
) -> fmt::Result {
    let mut line = String::new();
    for ((text, style), width) in cells.zip(widths).filter(|(_, width)| **width > 0) {
        let text = shortened(text, *width);
        let padding = width.saturating_sub(text.width()) + GAP.len();
        if !text.is_empty() {
            line.extend([style.render().to_string(), text, style.render_reset().to_string()]);
        }
        line.extend(std::iter::repeat_n(' ', padding));
    }

    writeln!(formatter, "{}", line.trim_end())
}

fn line_width(widths: &[usize]) -> usize {
    let printed = widths.iter().filter(|width| **width > 0).count();
    widths.iter().sum::<usize>() + GAP.len() * printed.saturating_sub(1)
}

/// Returns beginnings of the ids longer than `longest`, which differ from each other.
fn beginnings<'a>(ids: &[&'a str], longest: usize) -> Vec<&'a str> {
    let cut = |length: usize| {
        let cut = move |id: &&'a str| if id.len() > longest { id.get(..length).unwrap_or(id) } else { id };
        ids.iter().map(cut)
    };
    let different = ids.iter().collect::<BTreeSet<_>>().len();
    let whole = ids.iter().map(|id| id.len()).max().unwrap_or_default();
    let tells_apart = |length: &usize| cut(*length).collect::<BTreeSet<_>>().len() == different;

    cut((SHORTEST_ID..whole).find(tells_apart).unwrap_or(whole)).collect()
}

/// Returns a value of CSV. A name that a spreadsheet would compute as a formula begins with an apostrophe, which spreadsheets take
/// for the sign of a text.
fn csv_value(value: &str) -> String {
    let is_formula = value.starts_with(FORMULA_SIGNS) && value.parse::<f64>().is_err();
    let text = if is_formula { format!("'{value}") } else { value.to_owned() };
    if text.contains(['"', ',']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// Returns `text` as one line without characters that nobody sees. They could move the cursor or change colours.
fn one_line(text: &str) -> String {
    let spaced: String =
        text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    visible(&spaced).into_owned()
}

/// Returns `text` in at most `width` columns, with an ellipsis for its middle: names often differ at their ends.
fn shortened(text: &str, width: usize) -> String {
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
    use super::*;

    #[test]
    fn the_middle_of_a_long_cell_is_cut_at_its_display_width() {
        for (text, expected) in [
            ("a".repeat(10), "a".repeat(10)),
            ("Emberfall nightly 413".to_owned(), "Embe…y 413".to_owned()),
            ("日".repeat(6), "日日…日日".to_owned()),
            ("e\u{301}".repeat(11), format!("{}…{}", "e\u{301}".repeat(4), "e\u{301}".repeat(5))),
        ] {
            assert_eq!(shortened(&text, 10), expected, "{text}");
            assert!(shortened(&text, 10).width() <= 10, "{text}");
        }
        assert_eq!(one_line("one\ntwo\u{1b}"), "one two ");
    }

    #[test]
    fn wide_columns_are_shortened_first_and_whole_ones_never() {
        let mut table = Table::new(["test", "note", "id"]).fitting([2], Fit::Whole);
        table.add_row(["a".repeat(30), "日".repeat(6), "c".repeat(12)]);

        for (width, test, note) in [(58, 30, 12), (48, 20, 12), (38, 11, 11), (10, 8, 8)] {
            table = table.fit(Some(width));
            assert_eq!(table.layout().1, [test, note, 12], "{width}");
        }
    }

    #[test]
    fn programs_get_exact_values_and_whole_ids() {
        let id = |beginning: &str| format!("{beginning}-7e26-4277-b803-02ab60676871");
        let mut table = Table::new(["age", "name", "more", "empty", "id"]);
        for (index, beginning) in ["0016157b1", "0016157b2"].into_iter().enumerate() {
            let age = Cell::from("3h").exactly("2026-03-02");
            table.add_row([
                age,
                format!("=a, \"{index}\"").into(),
                "m".into(),
                "".into(),
                id(beginning).into(),
            ]);
        }
        let table = table.fitting([2], Fit::Programs).fitting([4], Fit::Id);

        assert!(table.to_string().ends_with("3h   =a, \"1\"  0016157b2\n"), "{table}");
        assert!(table.rows().starts_with(&format!("2026-03-02\t=a, \"0\"\t\t{}\n", id("0016157b1"))));
        let csv = format!("2026-03-02,\"'=a, \"\"0\"\"\",m,,{}\n", id("0016157b1"));
        assert_eq!(table.csv().lines().nth(1), csv.lines().next());
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
