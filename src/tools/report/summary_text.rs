//! A summary as text for a terminal.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
    time::Duration,
};

use indicatif::FormattedDuration;

use crate::tools::summary::{BuildName, Comparison, FailureEntry, FlakyTest, Omission, Summary, TestChange};

/// Width of the label at the start of a line.
const LABEL_WIDTH: usize = 14;

/// Displays a summary as text.
#[derive(Debug)]
pub struct SummaryText<'a>(pub &'a Summary);

impl Display for SummaryText<'_> {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let summary = self.0;
        write_head(to, summary)?;
        summary.failures.iter().try_for_each(|entry| write_failure(to, entry))?;
        write_section(to, "Flaky", &summary.flaky, write_flaky_test)?;

        if let Some(comparison) = &summary.comparison {
            write_comparison(to, comparison)?;
        }

        write_section(to, "Could not be read", &summary.unread, write_omission)?;

        if let Some(left_out) = &summary.left_out {
            let counts = format_counts(&left_out.counts).collect::<Vec<_>>().join(", ");
            writeln!(to, "\nLeft out: {counts}; {}", left_out.how)?;
        }

        Ok(())
    }
}

fn write_head(to: &mut Formatter<'_>, summary: &Summary) -> fmt::Result {
    let name = summary.name.as_deref().unwrap_or(&summary.target_id);
    let passed = summary.verdicts.get("SUCCESS").unwrap_or(&0);
    write!(to, "{name}: {passed} of {} passed", summary.total)?;

    match summary.total.saturating_sub(summary.finished) {
        0 => {}
        unfinished => write!(to, ", {unfinished} not finished")?,
    }

    writeln!(to)?;
    write_line(to, "verdicts", format_counts(&summary.verdicts))?;
    write_line(to, "bugs", format_counts(&summary.bugs))?;
    write_line(to, "started", summary.started_at.iter())?;

    let duration =
        summary.duration_ms.map(|milliseconds| FormattedDuration(Duration::from_millis(milliseconds)));
    write_line(to, "took", duration.iter())?;

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

    for bug in &entry.bugs {
        let id = bug.id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
        write_line(to, "bug", [format!("{}: {}{id}", bug.severity, bug.title)])?;
    }

    write_line(to, "runs", &entry.run_ids)?;
    write_line(to, "jobs", &entry.job_ids)?;

    write_line(to, "files", &entry.artifacts)
}

fn write_flaky_test(to: &mut Formatter<'_>, flaky: &FlakyTest) -> fmt::Result {
    let run = flaky.run_id.as_ref().map(|run| format!(" in {run}")).unwrap_or_default();
    writeln!(to, "  {}: {}, then passed{run}", flaky.test.name, flaky.earlier.join(", "))
}

fn write_comparison(to: &mut Formatter<'_>, comparison: &Comparison) -> fmt::Result {
    if let Some(with) = &comparison.with {
        let start = with.started_at.iter().map(|start| format!(", {start}"));
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
        ("not run", &comparison.not_run),
    ];
    for (label, changes) in lists {
        changes.iter().try_for_each(|change| write_line(to, label, [format_change(change)]))?;
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
    build.name.as_ref().map_or_else(|| build.id.clone(), |name| format!("{name} ({})", build.id))
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
