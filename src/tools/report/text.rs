//! A summary as text for a terminal.

use std::{
    fmt::{self, Display, Formatter},
    time::Duration,
};

use unicode_width::UnicodeWidthStr as _;

use crate::{
    text::{WallClock, duration_text, shorten_line},
    tools::summary::{
        BugEntry, BuildName, Comparison, FailureEntry, History, ListedTest, Omission, Summary, TestChange,
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
        write_section(to, "Slowest", &summary.slowest, write_slow_test)?;

        if let Some(comparison) = &summary.comparison {
            write_comparison(to, comparison, clock)?;
        }
        if let Some(history) = &summary.history {
            write_history(to, history)?;
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

fn write_retried_test(to: &mut Formatter<'_>, retried: &ListedTest) -> fmt::Result {
    let run = retried.run_id.as_ref().map(|run| format!(" in {run}")).unwrap_or_default();
    writeln!(to, "  {}: {}, then passed{run}", retried.test.name, retried.earlier.join(", "))
}

fn write_passed_test(to: &mut Formatter<'_>, passed: &ListedTest) -> fmt::Result {
    writeln!(to, "  {} in {}", passed.test.name, passed.run_id.as_deref().unwrap_or_default())?;
    write_bugs(to, &passed.bugs)
}

fn write_slow_test(to: &mut Formatter<'_>, slow: &ListedTest) -> fmt::Result {
    let took = Duration::from_millis(slow.duration_ms.unwrap_or_default());
    writeln!(to, "  {}: {}", slow.test.name, duration_text(took.as_secs_f64()))
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
        ("new", &comparison.new),
        ("fixed", &comparison.fixed),
        ("known", &comparison.known),
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

fn format_counts<'a>(
    counts: impl IntoIterator<Item = (&'a String, &'a usize)>,
) -> impl Iterator<Item = String> {
    counts.into_iter().map(|(word, count)| format!("{count} {word}"))
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

/// Longest name of a test in the grid, in characters.
const LONGEST_NAME: usize = 40;

/// Writes the last results as a grid with a letter for each, the letters, and a line for each result.
fn write_history(to: &mut Formatter<'_>, history: &History) -> fmt::Result {
    let columns = history.results.len();
    let flaky = history.tests.iter().filter(|test| test.label.as_deref() == Some("flaky")).count();
    writeln!(
        to,
        "\nLast {columns} results: {} tests, {} changing, {flaky} flaky\n",
        history.tests.len(),
        history.changing
    )?;

    let names: Vec<_> =
        history.tests.iter().map(|test| shorten_line(&test.test.name, LONGEST_NAME)).collect();
    let width = names.iter().map(|name| name.width()).max().unwrap_or_default();
    let numbers = (1..=columns).map(|number| format!(" {number:>2}"));
    writeln!(to, "  {}{}", " ".repeat(width), numbers.collect::<String>())?;
    for (name, test) in names.iter().zip(&history.tests) {
        let padding = " ".repeat(width.saturating_sub(name.width()));
        let letters = test.results.chars().map(|letter| format!("  {letter}"));
        let label = test.label.iter().map(|label| format!("  {label}"));
        writeln!(to, "  {name}{padding}{}", letters.chain(label).collect::<String>())?;
    }

    writeln!(to, "\n  {}\n", history.legend().join(", "))?;
    for (number, result) in (1..).zip(&history.results) {
        let parts =
            [result.started_at.as_deref(), result.id.as_deref().map(beginning), result.build.as_deref()];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        writeln!(to, "  {number:>2}  {}", parts.join("  "))?;
    }

    Ok(())
}
