//! Notes for users on standard error, beside the result of a command.

use std::{io::Write as _, path::Path};

use crate::text::single_line;

/// Prints a line.
pub(super) fn note(text: &str) {
    // If standard error is closed, the command continues without notes.
    drop(writeln!(anstream::stderr(), "{}", single_line(text)));
}

/// Prints the path of a file that the command has written.
pub(super) fn note_written(path: &Path) {
    note(&format!("written: {}", path.display()));
}
