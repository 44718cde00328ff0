//! Aligned columns for people.

use std::fmt;

/// Longest cell, in characters; a longer one is cut with an ellipsis.
const LONGEST_CELL: usize = 48;

/// Rows under a head. Columns that are empty in every row are left out.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(head: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { rows: vec![head.into_iter().map(Into::into).collect()] }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| cut(&cell)).collect());
    }

    /// Whether it has nothing but its head.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.len() < 2
    }

    /// Width of each column; 0 where all rows are empty.
    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let cells = |rows: &[Vec<String>]| {
                rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
            };
            let filled = cells(self.rows.get(1..).unwrap_or_default()).unwrap_or(0);
            if filled == 0 && self.rows.len() > 1 { 0 } else { cells(&self.rows).unwrap_or(0) }
        };

        (0..columns).map(width).collect()
    }
}

/// One line of printable text.
fn cut(cell: &str) -> String {
    let line: String = cell.chars().map(|one| if one.is_control() { ' ' } else { one }).collect();
    if line.chars().count() <= LONGEST_CELL {
        return line;
    }
    line.chars().take(LONGEST_CELL - 1).chain(['…']).collect()
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).filter(|(_, width)| **width > 0);
            let cells: Vec<_> = cells.map(|(cell, width)| format!("{cell:<width$}")).collect();
            writeln!(formatter, "{}", cells.join("  ").trim_end())?;
        }

        Ok(())
    }
}
