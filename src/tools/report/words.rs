//! A summary in words, for people at a terminal.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
    time::Duration,
};

use indicatif::FormattedDuration;

use crate::tools::summary::{BuildName, Change, Comparison, Failed, Flaky, Omission, Summary};

/// Room for the word that a line begins with.
const WORD: usize = 14;

/// A summary, told in lines.
#[derive(Debug)]
pub struct Words<'a>(pub &'a Summary);

impl Display for Words<'_> {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        head(to, self.0)?;
        self.0.failures.iter().try_for_each(|failed| failure(to, failed))?;
        section(to, "Flaky", &self.0.flaky, flaky)?;

        if let Some(comparison) = &self.0.comparison {
            changes(to, comparison)?;
        }

        section(to, "Could not be read", &self.0.unread, unread)?;
        let Some(left_out) = &self.0.left_out else { return Ok(()) };
        let counts = counted(&left_out.counts).collect::<Vec<_>>().join(", ");

        writeln!(to, "\nLeft out: {counts}; {}", left_out.how)
    }
}

fn head(to: &mut Formatter<'_>, summary: &Summary) -> fmt::Result {
    let name = summary.name.as_deref().unwrap_or(&summary.target_id);
    let passed = summary.verdicts.get("SUCCESS").unwrap_or(&0);
    write!(to, "{name}: {passed} of {} passed", summary.total)?;

    match summary.total.saturating_sub(summary.finished) {
        0 => {}
        unfinished => write!(to, ", {unfinished} not over yet")?,
    }

    writeln!(to)?;
    line(to, "verdicts", counted(&summary.verdicts))?;
    line(to, "bugs", counted(&summary.bugs))?;
    line(to, "started", summary.started_at.iter())?;

    let took = summary.duration_ms.map(|milliseconds| FormattedDuration(Duration::from_millis(milliseconds)));
    line(to, "took", took.iter())?;

    line(to, "build", summary.build.iter().chain(&summary.builds).map(build))
}

fn failure(to: &mut Formatter<'_>, failed: &Failed) -> fmt::Result {
    let times = if failed.count > 1 { format!(" ({} times)", failed.count) } else { String::new() };
    writeln!(to, "\n{}: {}{times}", failed.verdict, failed.test.name)?;

    if let Some(step) = &failed.step {
        let player = step.player.map(|player| format!("player {player}"));
        let number = step.number.map(|number| format!("step {number}"));
        let place = [player, number].into_iter().flatten().collect::<Vec<_>>().join(", ");
        line(to, &place, step.goal.iter())?;
    }

    line(to, "expected", failed.expected.iter())?;
    line(to, "observed", failed.observed.iter())?;

    for bug in &failed.bugs {
        let id = bug.id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
        line(to, "bug", [format!("{}: {}{id}", bug.severity, bug.title)])?;
    }

    line(to, "runs", &failed.run_ids)?;
    line(to, "jobs", &failed.job_ids)?;

    line(to, "files", &failed.artifacts)
}

fn flaky(to: &mut Formatter<'_>, flaky: &Flaky) -> fmt::Result {
    let run = flaky.run_id.as_ref().map(|run| format!(" in {run}")).unwrap_or_default();
    writeln!(to, "  {}: {}, then passed{run}", flaky.test.name, flaky.earlier.join(", "))
}

fn changes(to: &mut Formatter<'_>, comparison: &Comparison) -> fmt::Result {
    if let Some(with) = &comparison.with {
        let build = with.build.iter().map(|known| format!(", build {}", build(known)));
        let since = with.started_at.iter().map(|started| format!(", {started}"));
        let details: String = since.chain(build).collect();
        writeln!(to, "\nCompared with {}{details}", with.target_id)?;
    } else {
        writeln!(to, "\nCompared")?;
    }

    line(to, "note", comparison.note.iter())?;
    let lists = [
        ("newly failing", &comparison.newly_failing),
        ("fixed", &comparison.fixed),
        ("still failing", &comparison.still_failing),
        ("not run", &comparison.not_run),
    ];

    lists
        .into_iter()
        .try_for_each(|(word, list)| list.iter().try_for_each(|one| line(to, word, [change(one)])))
}

fn change(change: &Change) -> String {
    let run = change.run_id.as_ref().map(|run| format!(" in {run}")).unwrap_or_default();
    match (&change.was, &change.verdict) {
        (Some(was), Some(now)) => format!("{}: {was}, now {now}{run}", change.test.name),
        (Some(was), None) => format!("{}: was {was}", change.test.name),
        (None, Some(now)) => format!("{}: {now}{run}", change.test.name),
        (None, None) => change.test.name.clone(),
    }
}

fn unread(to: &mut Formatter<'_>, unread: &Omission) -> fmt::Result {
    writeln!(to, "  {}: {}", unread.what, unread.why)
}

fn build(build: &BuildName) -> String {
    build.name.as_ref().map_or_else(|| build.id.clone(), |name| format!("{name} ({})", build.id))
}

/// Counts with their words.
fn counted(counts: &BTreeMap<String, usize>) -> impl Iterator<Item = String> {
    counts.iter().map(|(word, count)| format!("{count} {word}"))
}

/// Under a head of its own, where there is anything.
fn section<T>(
    to: &mut Formatter<'_>,
    head: &str,
    entries: &[T],
    told: impl Fn(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    if !entries.is_empty() {
        writeln!(to, "\n{head}")?;
    }
    entries.iter().try_for_each(|entry| told(to, entry))
}

/// A word and what it stands before, where there is anything.
fn line<T: Display>(to: &mut Formatter<'_>, word: &str, texts: impl IntoIterator<Item = T>) -> fmt::Result {
    let texts: Vec<_> = texts.into_iter().map(|text| text.to_string()).collect();
    if texts.is_empty() { Ok(()) } else { writeln!(to, "  {word:<WORD$} {}", texts.join(", ")) }
}
