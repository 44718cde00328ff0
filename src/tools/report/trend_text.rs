//! A trend as a table for a terminal.

use std::fmt::{self, Display, Formatter};

use anstyle::{AnsiColor, Color, Style};
use unicode_width::UnicodeWidthStr as _;

use crate::{
    text::{shorten_line, visible},
    tools::summary::{Trend, TrendExecution, TrendResult, TrendTest},
};

/// Longest name of a test, in characters.
const LONGEST_NAME: usize = 40;

/// Length of a start time without its time zone and seconds, in characters.
const MINUTE_LENGTH: usize = 16;

/// A verdict in the table: its sign, the word of the service for the legend, and its colour.
type Mark = (char, &'static str, AnsiColor);

/// The marks of the known verdicts. The sign is distinct without its colour.
const MARKS: [Mark; 11] = [
    ('S', "SUCCESS", AnsiColor::Green),
    ('F', "FAILED", AnsiColor::Red),
    ('E', "ERROR", AnsiColor::Red),
    ('T', "TIMEOUT", AnsiColor::Yellow),
    ('M', "MAX_STEPS", AnsiColor::Yellow),
    ('B', "BLOCKED", AnsiColor::Yellow),
    ('X', "STOPPED", AnsiColor::Yellow),
    ('-', "SKIPPED", AnsiColor::BrightBlack),
    ('N', "no_run", AnsiColor::Yellow),
    ('?', "no_result", AnsiColor::Yellow),
    ('R', "running", AnsiColor::Blue),
];

/// Mark of a verdict that is not known.
const UNKNOWN: Mark = ('U', "unknown verdict", AnsiColor::Yellow);

/// Mark of an execution that did not include the test.
const ABSENT: Mark = ('.', "not included", AnsiColor::BrightBlack);

/// Displays a trend as a table with colours, which the output removes where they are not wanted.
#[derive(Debug)]
pub struct TrendText<'a>(pub &'a Trend);

impl Display for TrendText<'_> {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let trend = self.0;
        let name = trend.name.as_deref().unwrap_or(&trend.test_plan_id);
        let flaky = trend.tests.iter().filter(|test| test.flaky.is_some()).count();
        writeln!(
            to,
            "{}: {} tests in the last {} executions, {flaky} flaky\n",
            printable(name),
            trend.tests.len(),
            trend.executions.len()
        )?;

        write_grid(to, trend)?;
        write_legend(to, trend)?;

        for (number, execution) in (1..).zip(&trend.executions) {
            write_execution(to, number, execution)?;
        }

        trend.unread.iter().try_for_each(|omission| {
            writeln!(to, "\nCould not be read: {}: {}", printable(&omission.what), printable(&omission.why))
        })
    }
}

/// Writes the header and one row for each test.
fn write_grid(to: &mut Formatter<'_>, trend: &Trend) -> fmt::Result {
    let names: Vec<_> = trend.tests.iter().map(name).collect();
    let width = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let column = trend.executions.len().to_string().len();

    write!(to, "{}", " ".repeat(width))?;
    for number in 1..=trend.executions.len() {
        write!(to, "  {number:>column$}")?;
    }
    writeln!(to)?;

    for (name, test) in names.iter().zip(&trend.tests) {
        write!(to, "{name}{}", " ".repeat(width.saturating_sub(name.width())))?;
        for result in &test.results {
            let (letter, _, colour) = mark(result.as_ref());
            let style = Style::new().fg_color(Some(Color::Ansi(colour)));
            write!(to, "  {}{style}{letter}{style:#}", " ".repeat(column.saturating_sub(1)))?;
        }

        let flaky = test.flaky.as_ref().map(|why| format!("  flaky: {why}")).unwrap_or_default();
        writeln!(to, "{flaky}")?;
    }

    Ok(())
}

/// Writes the words of the marks that the table contains.
fn write_legend(to: &mut Formatter<'_>, trend: &Trend) -> fmt::Result {
    let marks: Vec<_> =
        trend.tests.iter().flat_map(|test| &test.results).map(|result| mark(result.as_ref())).collect();
    let known = MARKS.into_iter().chain([UNKNOWN, ABSENT]);

    let mut words: Vec<_> = known
        .filter(|known| marks.contains(known))
        .map(|(letter, word, _)| format!("{letter} {word}"))
        .collect();
    words.dedup();

    writeln!(to, "\n{}\n", words.join(", "))
}

fn write_execution(to: &mut Formatter<'_>, number: usize, execution: &TrendExecution) -> fmt::Result {
    let start: String =
        execution.started_at.iter().flat_map(|start| start.chars()).take(MINUTE_LENGTH).collect();
    let build = execution.build.as_ref().map(|build| build.name.as_deref().unwrap_or(&build.id));
    let build = build.map(|build| format!("  build {}", printable(build))).unwrap_or_default();
    let id = printable(&execution.test_plan_execution_id);

    writeln!(to, "{number:>2}  {}  {id}{build}", printable(&start.replace('T', " ")))
}

fn mark(result: Option<&TrendResult>) -> Mark {
    let Some(result) = result else { return ABSENT };
    MARKS.into_iter().find(|(_, verdict, _)| *verdict == result.verdict).unwrap_or(UNKNOWN)
}

fn name(test: &TrendTest) -> String {
    let name =
        if test.test.name.is_empty() { test.test.id.as_deref() } else { Some(test.test.name.as_str()) };
    shorten_line(&printable(name.unwrap_or("a test")), LONGEST_NAME)
}

/// Returns a text of the service without characters that could control the terminal.
fn printable(text: &str) -> String {
    let spaced: String =
        text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    visible(&spaced).into_owned()
}
