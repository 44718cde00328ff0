//! A summary or a trend as text for a terminal.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
    time::Duration,
};

use anstyle::{AnsiColor, Color, Style};
use unicode_width::UnicodeWidthStr as _;

use crate::{
    text::{WallClock, duration_text, shorten_line, visible},
    tools::summary::{
        ABSENT_LETTER, BugEntry, BuildName, Comparison, FailureEntry, Omission, PassedTest, RetriedTest,
        Summary, TestChange, Trend, TrendExecution, TrendResult, TrendTest, UNKNOWN_LETTER, VERDICT_LETTERS,
        verdict_letter,
    },
};

/// Width of the label at the start of a line.
const LABEL_WIDTH: usize = 14;

/// Displays a summary as text.
#[derive(Debug)]
pub struct SummaryText<'a> {
    /// The summary.
    pub summary: &'a Summary,
    /// The clock on which times are shown.
    pub clock: &'a WallClock,
}

impl Display for SummaryText<'_> {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let Self { summary, clock } = self;
        write_head(to, summary, clock)?;
        summary.failures.iter().flatten().try_for_each(|entry| write_failure(to, entry))?;
        let retried = summary.passed_after_retry.as_deref().unwrap_or_default();
        write_section(to, "Passed after a retry", retried, write_retried_test)?;
        write_section(to, "Passed with bugs", &summary.passed_with_bugs, write_passed_test)?;

        if let Some(comparison) = &summary.comparison {
            write_comparison(to, comparison, clock)?;
        }

        write_section(to, "Could not be read", &summary.unread, write_omission)?;

        if let Some(left_out) = &summary.left_out {
            let counts = format_counts(&left_out.counts).collect::<Vec<_>>().join(", ");
            writeln!(to, "\nLeft out: {counts}; {}", left_out.how)?;
        }

        Ok(())
    }
}

fn write_head(to: &mut Formatter<'_>, summary: &Summary, clock: &WallClock) -> fmt::Result {
    let name = summary.title();
    let passed = summary.verdicts.get("SUCCESS").unwrap_or(&0);
    write!(to, "{name}: {passed} of {} passed", summary.total)?;

    match summary.total.saturating_sub(summary.finished) {
        0 => {}
        unfinished => write!(to, ", {unfinished} not finished")?,
    }

    writeln!(to)?;
    write_line(to, "verdicts", format_counts(&summary.verdicts))?;
    write_line(to, "bugs", summary.bugs.iter().flat_map(format_counts))?;
    write_line(to, "started", summary.started_at.iter().map(|start| clock.time_and_age(start)))?;

    let duration = summary.duration_ms.map(Duration::from_millis);
    write_line(to, "took", duration.map(|duration| duration_text(duration.as_secs_f64())))?;

    write_line(to, "build", summary.build.iter().chain(&summary.builds).map(format_build))
}

fn write_failure(to: &mut Formatter<'_>, entry: &FailureEntry) -> fmt::Result {
    let times = if entry.count > 1 { format!(" ({} times)", entry.count) } else { String::new() };
    writeln!(to, "\n{}: {}{times}", entry.verdict, entry.test.name)?;

    if let Some(step) = &entry.step {
        let player = step.player.map(|player| format!("player {player}"));
        let number = step.number.map(|number| format!("step {number}"));
        let label = [player, number].into_iter().flatten().collect::<Vec<_>>().join(", ");
        write_line(to, &label, step.goal.iter())?;
    }

    write_line(to, "expected", entry.expected.iter())?;
    write_line(to, "observed", entry.observed.iter())?;

    write_bugs(to, &entry.bugs)?;

    write_line(to, "runs", &entry.run_ids)?;
    write_line(to, "jobs", &entry.job_ids)?;

    write_line(to, "files", &entry.artifacts)
}

fn write_bugs(to: &mut Formatter<'_>, bugs: &[BugEntry]) -> fmt::Result {
    for bug in bugs {
        let id = bug.id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
        write_line(to, "bug", [format!("{}: {}{id}", bug.severity, bug.title)])?;
    }

    Ok(())
}

fn write_retried_test(to: &mut Formatter<'_>, retried: &RetriedTest) -> fmt::Result {
    let run = retried.run_id.as_ref().map(|run| format!(" in {run}")).unwrap_or_default();
    writeln!(to, "  {}: {}, then passed{run}", retried.test.name, retried.earlier.join(", "))
}

fn write_passed_test(to: &mut Formatter<'_>, passed: &PassedTest) -> fmt::Result {
    writeln!(to, "  {} in {}", passed.test.name, passed.run_id)?;
    write_bugs(to, &passed.bugs)
}

fn write_comparison(to: &mut Formatter<'_>, comparison: &Comparison, clock: &WallClock) -> fmt::Result {
    if let Some(with) = &comparison.with {
        let start = with.started_at.iter().map(|start| format!(", {}", clock.time_and_age(start)));
        let build = with.build.iter().map(|build| format!(", build {}", format_build(build)));
        let details: String = start.chain(build).collect();
        writeln!(to, "\nCompared with {}{details}", with.target_id)?;
    } else {
        writeln!(to, "\nComparison")?;
    }

    write_line(to, "note", comparison.note.iter())?;

    let lists = [
        ("newly failing", &comparison.newly_failing),
        ("fixed", &comparison.fixed),
        ("still failing", &comparison.still_failing),
        ("without result", &comparison.not_run),
    ];
    for (label, changes) in lists {
        changes.iter().flatten().try_for_each(|change| write_line(to, label, [format_change(change)]))?;
    }

    Ok(())
}

fn format_change(change: &TestChange) -> String {
    let run = change.run_id.as_ref().map(|run| format!(" in {run}")).unwrap_or_default();
    match (&change.was, &change.verdict) {
        (Some(was), Some(now)) => format!("{}: {was}, now {now}{run}", change.test.name),
        (Some(was), None) => format!("{}: was {was}", change.test.name),
        (None, Some(now)) => format!("{}: {now}{run}", change.test.name),
        (None, None) => change.test.name.clone(),
    }
}

fn write_omission(to: &mut Formatter<'_>, omission: &Omission) -> fmt::Result {
    writeln!(to, "  {}: {}", omission.what, omission.why)
}

fn format_build(build: &BuildName) -> String {
    let name = build.name.as_ref().map(|name| format!("{name} ({})", beginning(&build.id)));
    name.unwrap_or_else(|| build.id.clone())
}

/// Returns the beginning of an id, which commands take in place of the whole: a line then fits into a terminal.
fn beginning(id: &str) -> &str {
    id.split('-').next().unwrap_or(id)
}

/// Returns the text of each count.
fn format_counts(counts: &BTreeMap<String, usize>) -> impl Iterator<Item = String> {
    counts.iter().map(|(word, count)| format!("{count} {word}"))
}

/// Writes a section with a heading, if it has entries.
fn write_section<T>(
    to: &mut Formatter<'_>,
    heading: &str,
    entries: &[T],
    write_entry: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    if !entries.is_empty() {
        writeln!(to, "\n{heading}")?;
    }
    entries.iter().try_for_each(|entry| write_entry(to, entry))
}

/// Writes a line with a label and its texts, if there are any.
fn write_line<T: Display>(
    to: &mut Formatter<'_>,
    label: &str,
    texts: impl IntoIterator<Item = T>,
) -> fmt::Result {
    let texts: Vec<_> = texts.into_iter().map(|text| text.to_string()).collect();
    if texts.is_empty() { Ok(()) } else { writeln!(to, "  {label:<LABEL_WIDTH$} {}", texts.join(", ")) }
}

/// Longest name of a test, in characters.
const LONGEST_NAME: usize = 40;

/// The sign behind the letter of a result that came after retries, and what it means.
const RETRY_SIGN: (&str, &str) = ("+", "after a retry");

/// A verdict in the table: its sign, the word of the service for the legend, and its colour.
type Mark = (char, &'static str, AnsiColor);

/// Returns the mark of a letter.
fn coloured((letter, word): (char, &'static str)) -> Mark {
    let colour = match letter {
        'S' => AnsiColor::Green,
        'F' | 'E' => AnsiColor::Red,
        '-' | '.' => AnsiColor::BrightBlack,
        'R' => AnsiColor::Blue,
        _ => AnsiColor::Yellow,
    };
    (letter, word, colour)
}

/// Displays a trend as a table with colours, which the output removes where they are not wanted.
#[derive(Debug)]
pub struct TrendText<'a> {
    /// The trend.
    pub trend: &'a Trend,
    /// The clock on which times are shown.
    pub clock: &'a WallClock,
}

impl Display for TrendText<'_> {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let Self { trend, clock } = self;
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
            write_execution(to, number, execution, clock)?;
        }

        trend.unread.iter().try_for_each(|omission| {
            writeln!(to, "\nCould not be read: {}: {}", printable(&omission.what), printable(&omission.why))
        })
    }
}

/// Writes the header and one row for each test.
fn write_grid(to: &mut Formatter<'_>, trend: &Trend) -> fmt::Result {
    let names: Vec<_> = trend.tests.iter().map(row_name).collect();
    let width = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let column = trend.executions.len().to_string().len();
    // Only a grid with retries has room for their sign.
    let sign_width = if has_retries(trend) { RETRY_SIGN.0.len() } else { 0 };

    let numbers = (1..=trend.executions.len()).map(|number| format!("  {number:>column$}{:sign_width$}", ""));
    let header = " ".repeat(width) + &numbers.collect::<String>();
    writeln!(to, "{}", header.trim_end())?;

    for (name, test) in names.iter().zip(&trend.tests) {
        let cells = test.results.iter().map(|result| grid_cell(result.as_ref(), column, sign_width));
        let cells = cells.collect::<String>();
        let flaky = test.flaky.as_ref().map(|why| format!("  flaky: {why}")).unwrap_or_default();
        let row = format!("{name}{}{cells}{flaky}", " ".repeat(width.saturating_sub(name.width())));
        writeln!(to, "{}", row.trim_end())?;
    }

    Ok(())
}

/// Returns a letter in its colour, with the sign of a retry behind it.
fn grid_cell(result: Option<&TrendResult>, column: usize, sign_width: usize) -> String {
    let (letter, _, colour) = mark(result);
    let style = Style::new().fg_color(Some(Color::Ansi(colour)));
    let sign = if result.is_some_and(is_retried) { RETRY_SIGN.0 } else { "" };

    format!("  {}{style}{letter}{style:#}{sign:sign_width$}", " ".repeat(column.saturating_sub(1)))
}

fn is_retried(result: &TrendResult) -> bool {
    !result.earlier.is_empty()
}

fn has_retries(trend: &Trend) -> bool {
    trend.tests.iter().flat_map(|test| &test.results).flatten().any(is_retried)
}

/// Writes the words of the marks that the table contains.
fn write_legend(to: &mut Formatter<'_>, trend: &Trend) -> fmt::Result {
    let marks: Vec<_> =
        trend.tests.iter().flat_map(|test| &test.results).map(|result| mark(result.as_ref())).collect();
    let known = VERDICT_LETTERS.into_iter().chain([UNKNOWN_LETTER, ABSENT_LETTER]).map(coloured);

    let mut words: Vec<_> = known
        .filter(|known| marks.contains(known))
        .map(|(letter, word, _)| format!("{letter} {word}"))
        .collect();
    words.dedup();
    words.extend(has_retries(trend).then(|| format!("{} {}", RETRY_SIGN.0, RETRY_SIGN.1)));

    writeln!(to, "\n{}\n", words.join(", "))
}

fn write_execution(
    to: &mut Formatter<'_>,
    number: usize,
    execution: &TrendExecution,
    clock: &WallClock,
) -> fmt::Result {
    let start = execution.started_at.as_deref().map(|start| clock.time(start)).unwrap_or_default();
    let build = execution.build.as_ref().map(|build| build.name.as_deref().unwrap_or(&build.id));
    let build = build.map(|build| format!("  {}", printable(build))).unwrap_or_default();
    let id = printable(beginning(&execution.test_plan_execution_id));

    writeln!(to, "{number:>2}  {}  {id}{build}", printable(&start))
}

fn mark(result: Option<&TrendResult>) -> Mark {
    coloured(verdict_letter(result))
}

fn row_name(test: &TrendTest) -> String {
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
