//! The output of commands: one result in the form that the flags select, and notes on standard error beside it.
//!
//! A pipe gets the text that a terminal shows, without colours, but the rows of a list with tabs between whole values. JSON and
//! CSV need a flag. The log of a CI job gets no commands for its system.

use std::{
    env,
    fmt::Display,
    io::{Error, ErrorKind, IsTerminal as _, Result, Write as _},
    path::{Path, PathBuf},
    sync::LazyLock,
};

use anstream::adapter::strip_str;
use clap::{Args, ValueEnum};
use console::Term;
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use super::{
    exit_status::{CommandError, ExitStatus},
    table::Table,
};
use crate::text::{single_line, visible};

/// Directories from which GitLab and Jenkins look for the files of a job.
const DIRECTORIES: [&str; 2] = ["CI_PROJECT_DIR", "WORKSPACE"];

/// What follows a first `#` where a command of a CI system begins, anywhere in a line.
const COMMANDS: [&str; 3] = ["#[", "#vso[", "#teamcity["];

static IS_JOB: LazyLock<bool> = LazyLock::new(|| {
    ["GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION", "CI"].into_iter().any(|name| variable(name).is_some())
});

/// Flag that prints results and failures as JSON.
pub(super) const JSON: &str = "json";

#[derive(Args)]
pub(super) struct JsonFlag {
    #[arg(long, help = "Print results and failures as JSON")]
    pub(super) json: bool,
}

#[derive(Args)]
pub(super) struct LengthFlag {
    #[arg(long, value_name = "N", conflicts_with = JSON)]
    #[arg(help = "Print whole lines of at most N characters together, and how many lines are left out")]
    max_chars: Option<usize>,
}

impl LengthFlag {
    pub(super) fn cut(&self, text: &str) -> String {
        let end = self.max_chars.and_then(|limit| text.char_indices().nth(limit));
        let Some(begin) = end.and_then(|(end, _)| text.get(..end)) else { return text.to_owned() };

        let kept = begin.trim_end_matches(|one| one != '\n');
        let missing = text.lines().count() - kept.lines().count();
        format!("{kept}... {missing} more lines are left out by --max-chars\n")
    }
}

#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct OutputFlags {
    #[arg(long, help = "Print results and failures as JSON")]
    json: bool,

    #[arg(long, value_name = "FOR", num_args = 0..=1, require_equals = true, default_missing_value = "programs", conflicts_with = JSON)]
    #[arg(help = "Print the rows as CSV; for Excel with the mark that it needs to read them as UTF-8")]
    csv: Option<CsvReader>,
}

/// Who reads CSV. Excel takes a file without a byte order mark for one in the encoding of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CsvReader {
    Programs,
    Excel,
}

/// A result as people read it.
pub(super) enum Shown {
    Table(Table),
    /// A text without control characters, except for styles. A terminal shows it in its width.
    Text(String),
    /// A value as JSON, which has no form for people.
    Json(String),
}

impl From<Table> for Shown {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

impl From<String> for Shown {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// Standard output is a terminal.
    Text,
    /// Standard output is a pipe or a file.
    Rows,
    Csv(CsvReader),
    Json,
}

impl From<OutputFlags> for Output {
    fn from(flags: OutputFlags) -> Self {
        match (flags.csv, std::io::stdout().is_terminal()) {
            _ if flags.json => Self::Json,
            (Some(reader), _) => Self::Csv(reader),
            (None, true) => Self::Text,
            (None, false) => Self::Rows,
        }
    }
}

impl From<&JsonFlag> for Output {
    fn from(flag: &JsonFlag) -> Self {
        OutputFlags { json: flag.json, csv: None }.into()
    }
}

impl Output {
    pub(super) fn is_text(self) -> bool {
        self == Self::Text
    }

    /// Returns whether the rows of a table are printed, which do not say everything that the JSON says.
    pub(super) fn has_rows(self) -> bool {
        self != Self::Json
    }

    pub(super) fn is_for_programs(self) -> bool {
        matches!(self, Self::Csv(_) | Self::Json)
    }

    /// Prints the result. `shown` is what people read. Returns `status`, or the status of an output that cannot be written.
    pub(super) fn print<S: Into<Shown>>(
        self,
        status: ExitStatus,
        result: &impl Serialize,
        shown: impl FnOnce() -> S,
    ) -> std::result::Result<ExitStatus, CommandError> {
        let printed = match (self, self.has_rows().then(|| shown().into())) {
            (Self::Text, Some(Shown::Table(table))) => print_table(table),
            (Self::Csv(reader), Some(Shown::Table(table))) => {
                let mark = if reader == CsvReader::Excel { "\u{feff}" } else { "" };
                write_output(mark).and_then(|()| print_text(table.csv()))
            }
            (_, Some(Shown::Table(table))) => print_text(table.rows()),
            (_, Some(Shown::Text(text))) => print_paragraphs(&text),
            (_, Some(Shown::Json(text))) => print_json(text),
            (_, None) if std::io::stdout().is_terminal() => {
                print_json(format_args!("{:#}", serde_json::to_value(result)?))
            }
            (_, None) => print_json(serde_json::to_value(result)?),
        };

        Ok(status_after_output(status, printed))
    }
}

/// Returns the exit status of a command that has printed its result. An output that cannot be written is reported, and
/// replaces only the status of success. A closed pipe is not an error: a reader such as `head` has read enough.
pub(super) fn status_after_output(
    status: ExitStatus,
    printed: std::result::Result<(), impl Into<anyhow::Error>>,
) -> ExitStatus {
    let Err(error) = printed.map_err(Into::into) else { return status };
    if error.downcast_ref::<Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        return status;
    }

    print_error(&format!("tas-mcp: the output cannot be written: {error:#}\n"));

    if status == ExitStatus::Success { ExitStatus::Rejected } else { status }
}

pub(super) fn print_json(json: impl Display) -> Result<()> {
    let line = format!("{json}\n");
    anstream::stdout().write_all(disarmed_json(&visible(&line)).as_bytes())
}

/// Prints a text that ends with a line break. Characters that a user cannot see are left out: they could control the
/// terminal or replace what it shows.
pub(super) fn print_text(text: impl Display) -> Result<()> {
    write_output(&visible(&text.to_string()).replace('\r', ""))
}

/// Prints a table in the width of the terminal, with colours where the terminal shows them.
pub(super) fn print_table(table: Table) -> Result<()> {
    // The cells contain no control characters.
    print_paragraphs(&table.fit(terminal_width()).to_string())
}

/// Prints a text for people, without control characters except for styles, in the width of the terminal.
pub(super) fn print_paragraphs(text: &str) -> Result<()> {
    write_output(&wrapped(text, terminal_width()))
}

fn write_output(text: &str) -> Result<()> {
    anstream::stdout().write_all(disarmed(text).as_bytes())
}

/// Writes a text for people on standard error, without control characters except for styles.
pub(super) fn write_error(text: &str) -> Result<()> {
    anstream::stderr().write_all(disarmed(text).as_bytes())
}

/// Prints a text for people on standard error, in the width of the terminal.
pub fn print_error(text: &str) {
    // If standard error is closed, the command continues, and its exit status is all that can be reported.
    drop(write_error(&wrapped(text, error_width())));
}

/// Beginnings of lines with a command, which stay whole, so that it can be copied.
const COMMAND_LINES: [&str; 3] = ["continue with: ", "details: ", "more: "];

/// Returns a text whose long lines are broken between words.
pub fn wrapped(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let is_whole = |line: &str| {
        columns(line.trim_end()) <= width || COMMAND_LINES.iter().any(|begin| line.starts_with(begin))
    };
    let lines = text.split_inclusive('\n');

    lines.map(|line| if is_whole(line) { line.to_owned() } else { broken(line, width) }).collect()
}

/// Returns a line in parts that fit into `width`. The further parts begin below the first one, which may have a label before it.
fn broken(line: &str, width: usize) -> String {
    let text = text_start(line).filter(|start| *start < width / 2).unwrap_or_default();
    let (label, body) = line.split_at_checked(text).unwrap_or(("", line));
    let margin = " ".repeat(columns(label).max(2));

    let mut parts = label.to_owned();
    let mut used = columns(label);
    for (index, word) in body.split_whitespace().enumerate() {
        let (gap, length) = (usize::from(index > 0), columns(word));
        if index > 0 && used + gap + length > width {
            parts.extend(["\n", &margin, word]);
            used = margin.len() + length;
        } else {
            parts.extend([if index > 0 { " " } else { "" }, word]);
            used += gap + length;
        }
    }

    parts + line.get(line.trim_end().len()..).unwrap_or_default()
}

/// Returns where the text of a line begins: after its indentation, and after a label that ends with two spaces.
fn text_start(line: &str) -> Option<usize> {
    let indentation = line.find(|one| one != ' ')?;
    let label = line.get(indentation..)?.find("  ").map(|length| indentation + length);
    let after_label = label.and_then(|end| Some(end + line.get(end..)?.find(|one| one != ' ')?));
    after_label.or(Some(indentation))
}

fn columns(text: &str) -> usize {
    strip_str(text).to_string().width()
}

/// Returns the width of the terminal that standard output is; `None` if it is none.
pub fn terminal_width() -> Option<usize> {
    Term::stdout().size_checked().map(|(_, width)| usize::from(width))
}

pub(super) fn error_width() -> Option<usize> {
    Term::stderr().size_checked().map(|(_, width)| usize::from(width))
}

/// Prints a line for the user on standard error, beside the result.
pub(super) fn note(text: &str) {
    print_error(&format!("{}\n", single_line(text)));
}

pub(super) fn note_written(path: &Path) {
    note(&format!("written: {}", path.display()));
}

/// Returns a text for standard output or standard error. A job obeys commands in its log, which texts of the service must not give.
/// A command of GitHub also begins with `::` at the start of a line, after white space.
pub(super) fn disarmed(text: &str) -> String {
    let is_command = |line: &str| *IS_JOB && strip_str(line).to_string().trim_start().starts_with("::");
    let text = with_first_sign(text, "# ");
    let lines = text.split_inclusive('\n');
    lines.map(|line| if is_command(line) { line.replacen("::", ": :", 1) } else { line.to_owned() }).collect()
}

/// As [`disarmed`], for JSON: its value stays the same, and none of its lines begins with `::`.
pub(super) fn disarmed_json(json: &str) -> String {
    with_first_sign(json, "\\u0023")
}

fn with_first_sign(text: &str, sign: &str) -> String {
    COMMANDS
        .iter()
        .filter(|_| *IS_JOB)
        .fold(text.to_owned(), |text, rest| text.replace(&format!("#{rest}"), &format!("{sign}{rest}")))
}

/// Returns the path of a file as it is looked for: from the directory of the job, if the file is there.
pub(super) fn path_in_job(path: &Path) -> PathBuf {
    let inside = |name| {
        let directory = Path::new(&variable(name)?).canonicalize().ok()?;
        path.canonicalize().ok()?.strip_prefix(directory).ok().map(Path::to_owned)
    };
    DIRECTORIES.into_iter().find_map(inside).unwrap_or_else(|| path.to_owned())
}

fn variable(name: &str) -> Option<std::ffi::OsString> {
    #[expect(clippy::disallowed_methods, reason = "the variables describe the job, and are no settings")]
    env::var_os(name).filter(|value| !value.is_empty())
}
