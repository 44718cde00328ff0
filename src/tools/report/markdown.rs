//! A report as Markdown, for the summary of a CI job and for pull requests: failures first, pictures as links.
//!
//! Every text of the service is escaped, so that a name is no markup, no mention of a user and no reference to an issue.

use std::fmt::Write as _;

use jiff::Timestamp;
use url::Url;

use super::{ReportData, pictures::ReportPicture};
use crate::{
    service::{api::runs::Run, lenient::view},
    text::{duration_text, single_line},
    tools::{
        summary::{BugEntry, BuildName, Comparison, FailureEntry, History, Summary, TestChange},
        waiting::canonical_result,
    },
};

/// Largest size of a report, in characters. Comments of pull requests have at most 65,536.
const MAX_CHARACTERS: usize = 60_000;

/// Characters that are kept free for the note about what is left out.
const NOTE_CHARACTERS: usize = 200;

/// Longest text of the service in one place, in characters.
const LONGEST_TEXT: usize = 2_000;

/// Returns the report as Markdown.
pub fn markdown(data: &ReportData) -> String {
    let mut page = MarkdownPage::default();

    if let Some(summary) = &data.summary {
        write_summary(&mut page, summary, data);
    }
    for omission in &data.unread {
        page.add(format!("- Could not be read: {}: {}\n", escaped(&omission.what), escaped(&omission.why)));
    }

    page.finish()
}

/// A text that takes whole blocks until it is full.
#[derive(Debug, Default)]
struct MarkdownPage {
    text: String,
    characters: usize,
    left_out: usize,
}

impl MarkdownPage {
    fn add(&mut self, block: impl AsRef<str>) {
        let block = block.as_ref();
        let characters = block.chars().count();
        if self.left_out > 0 || self.characters + characters > MAX_CHARACTERS - NOTE_CHARACTERS {
            self.left_out += 1;
            return;
        }

        self.characters += characters;
        self.text.push_str(block);
    }

    /// Adds a heading and the lines below it, if there are any.
    fn add_section(&mut self, heading: &str, lines: impl IntoIterator<Item = String>) {
        let mut lines = lines.into_iter().peekable();
        if lines.peek().is_some() {
            self.add(format!("\n### {heading}\n\n"));
        }
        lines.for_each(|line| self.add(line));
    }

    fn finish(mut self) -> String {
        if self.left_out > 0 {
            let note = "the size is limited. The report page has everything (`--html`)";
            // Writing to a string cannot fail.
            writeln!(self.text, "\n_Left out: {} more entries, because {note}._", self.left_out)
                .unwrap_or_default();
        }

        self.text
    }
}

fn write_summary(page: &mut MarkdownPage, summary: &Summary, data: &ReportData) {
    let name = summary.title();
    let passed = summary.verdicts.get("SUCCESS").unwrap_or(&0);
    let unfinished = summary.total.saturating_sub(summary.finished);
    let unfinished = if unfinished > 0 { format!(", {unfinished} not finished") } else { String::new() };
    page.add(format!("## {}: {passed} of {} passed{unfinished}\n\n", escaped(name), summary.total));
    page.add(head(summary));

    let pictures = data.pictures.as_ref().map(|album| album.items.as_slice()).unwrap_or_default();
    let failures = summary.failures.iter().flatten();
    page.add_section("Failures", failures.map(|entry| failure(entry, pictures)));

    if let Some(comparison) = &summary.comparison {
        write_comparison(page, comparison);
    }
    if let Some(history) = &summary.history {
        write_history(page, history);
    }

    let retried = summary.passed_after_retry.iter().flatten().map(|retried| {
        let earlier = joined(retried.earlier.iter().map(|word| verdict(word)));
        let run = optional(retried.run_id.as_ref(), |run| format!(" in {}", code(run)));
        format!("- {}: {earlier}, then passed{run}\n", escaped(&retried.test.name))
    });
    page.add_section("Passed after a retry", retried);

    let with_bugs = summary.passed_with_bugs.iter().map(|passed| {
        let name = escaped(&passed.test.name);
        let run = optional(passed.run_id.as_ref(), |run| format!(" in {}", code(run)));
        format!("- {name}{run}: {}\n", joined(passed.bugs.iter().map(bug)))
    });
    page.add_section("Passed with bugs", with_bugs);

    write_runs(page, data);

    for omission in &summary.unread {
        page.add(format!("\n- Could not be read: {}: {}\n", escaped(&omission.what), escaped(&omission.why)));
    }
    if let Some(left_out) = &summary.left_out {
        let counts = left_out.counts.iter().map(|(what, count)| format!("{count} {}", escaped(what)));
        page.add(format!("\n_Left out: {}._\n", joined(counts)));
    }
}

/// Returns the verdicts, and a table of the other facts.
fn head(summary: &Summary) -> String {
    let mut counts: Vec<_> = summary.verdicts.iter().collect();
    counts.sort_by_key(|(word, _)| *word == "SUCCESS");
    let verdicts = joined(counts.into_iter().map(|(word, count)| format!("{} {count}", verdict(word))));

    let bugs =
        summary.bugs.iter().flatten().map(|(severity, count)| format!("{count} {}", escaped(severity)));
    let builds = summary.build.iter().chain(&summary.builds).map(build);
    let took = summary.duration_ms.map(duration);
    let facts = [
        ("build", joined(builds)),
        ("started", summary.started_at.as_deref().map(time).unwrap_or_default()),
        ("took", took.unwrap_or_default()),
        ("bugs", joined(bugs)),
    ];
    let known = facts.into_iter().filter(|(_, value)| !value.is_empty());

    let rows = known.map(|(name, value)| format!("- **{name}:** {value}\n"));
    format!("{verdicts}\n\n{}", rows.collect::<String>())
}

fn failure(entry: &FailureEntry, pictures: &[ReportPicture]) -> String {
    let times = if entry.count > 1 { format!(" × {}", entry.count) } else { String::new() };
    let mut text = format!("#### {}: {}{times}\n\n", verdict(&entry.verdict), escaped(&entry.test.name));

    let step = entry.step.as_ref().map(|step| {
        let player = step.player.map(|player| format!("player {player}"));
        let number = step.number.map(|number| format!("step {number}"));
        let place = joined(player.into_iter().chain(number));
        (place, step.goal.as_deref().map(escaped).unwrap_or_default())
    });
    let (place, goal) = step.unwrap_or_default();
    let shown = pictures.iter().filter(|picture| entry.run_ids.contains(&picture.run_id));
    let ids = entry.run_ids.iter().map(|id| code(id)).chain(entry.job_ids.iter().map(|id| code(id)));

    for (label, value) in [
        (place.as_str(), goal),
        ("expected", entry.expected.as_deref().map(escaped).unwrap_or_default()),
        ("observed", entry.observed.as_deref().map(escaped).unwrap_or_default()),
        ("bugs", joined(entry.bugs.iter().map(bug))),
        ("screenshots", joined(shown.filter_map(picture))),
        (if entry.run_ids.is_empty() { "jobs" } else { "runs" }, joined(ids)),
    ] {
        if !label.is_empty() && !value.is_empty() {
            // Writing to a string cannot fail.
            writeln!(text, "- **{label}:** {value}").unwrap_or_default();
        }
    }

    text + "\n"
}

fn write_comparison(page: &mut MarkdownPage, comparison: &Comparison) {
    let with = comparison.with.iter().map(|with| {
        let build = optional(with.build.as_ref(), |one| format!(", build {}", build(one)));
        format!("- compared with {}{build}\n", code(&with.target_id))
    });
    let note = comparison.note.iter().map(|note| format!("- {}\n", escaped(note)));
    let lists = [
        ("new", &comparison.new),
        ("known", &comparison.known),
        ("fixed", &comparison.fixed),
        ("without a result", &comparison.not_run),
    ];
    let changes = lists.into_iter().flat_map(|(label, changes)| {
        changes.iter().flatten().map(move |one| format!("- **{label}:** {}\n", change(one)))
    });

    page.add_section("Changes", with.chain(note).chain(changes));
}

fn change(change: &TestChange) -> String {
    let was = optional(change.was.as_ref(), |word| format!(", was {}", verdict(word)));
    let now = optional(change.verdict.as_ref(), |word| format!(" is {}", verdict(word)));
    let run = optional(change.run_id.as_ref(), |run| format!(" in {}", code(run)));

    format!("{}{now}{was}{run}", escaped(&change.test.name))
}

/// Writes a table of the runs of a job or an execution, those that did not pass first.
fn write_runs(page: &mut MarkdownPage, data: &ReportData) {
    let runs = data.runs.iter().flatten().map(view::<Run>).map(|run| run.head);
    let word = |result: &Option<String>, state: &str| {
        result.as_deref().map_or_else(|| state.to_owned(), canonical_result)
    };
    let mut rows: Vec<_> = runs.map(|run| (word(&run.result, &run.state), run)).collect();
    rows.sort_by_key(|(word, _)| word == "SUCCESS");
    if rows.is_empty() {
        return;
    }

    page.add("\n### Runs\n\n| verdict | test | took | run |\n|-|-|-|-|\n");
    for (word, run) in rows {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast of a float saturates, and a duration is not negative"
        )]
        let took = run.duration_ms.map(|span| duration(span as u64)).unwrap_or_default();
        let (name, id) = (escaped(&run.test.name), code(&run.multiplayer_run_id));
        page.add(format!("| {} | {name} | {took} | {id} |\n", verdict(&word)));
    }
}

/// Writes the last results as a grid with a letter for each.
fn write_history(page: &mut MarkdownPage, history: &History) {
    let columns = history.results.iter().map(|result| {
        let start = optional(result.started_at.as_deref(), escaped);
        let build = optional(result.build.as_deref(), |build| format!("<br>{}", escaped(build)));
        format!(" {start}{build} |")
    });
    let columns: String = columns.collect();
    let rules = "-|".repeat(history.results.len());
    page.add(format!("\n### Last {} results\n\n| test |{columns}\n|-|{rules}\n", history.results.len()));

    for test in &history.tests {
        let cells = test.results.chars().map(|letter| format!(" {} |", escaped(&letter.to_string())));
        let label = optional(test.label.as_deref(), |label| format!("<br>⚠️ {}", escaped(label)));
        page.add(format!("| {}{label} |{}\n", escaped(&test.test.name), cells.collect::<String>()));
    }
    page.add(format!("\n{}\n", escaped(&history.legend().join(", "))));
}

/// Returns a verdict with a sign that can be seen without colours.
fn verdict(word: &str) -> String {
    let sign = match word {
        "SUCCESS" => "✅",
        "FAILED" | "ERROR" => "❌",
        "SKIPPED" => "⏭️",
        "running" | "RUNNING" | "QUEUED" => "⏳",
        _ => "⚠️",
    };
    format!("{sign} {}", escaped(word))
}

fn bug(bug: &BugEntry) -> String {
    let id = optional(bug.id.as_ref(), |id| format!(" ({})", code(id)));
    format!("{}: {}{id}", escaped(&bug.severity), escaped(&bug.title))
}

fn build(build: &BuildName) -> String {
    build.name.as_deref().map_or_else(|| code(&build.id), escaped)
}

/// Returns the link to a picture; `None` if its address is not for readers.
fn picture(picture: &ReportPicture) -> Option<String> {
    let url = readable_address(&picture.url)?;
    let shown = picture.step.map_or_else(|| "end".to_owned(), |step| format!("step {step}"));
    // The address of a link ends at one of these characters.
    let url = url.replace('<', "%3C").replace('>', "%3E").replace('\\', "%5C").replace('&', "&amp;");
    Some(format!("[player {}, {shown}](<{url}>)", picture.player))
}

/// Returns an address that a report may publish: of the web, and without a permission in it. A query may be one, because
/// presigned addresses have their signature there.
pub(super) fn readable_address(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    (matches!(url.scheme(), "http" | "https") && is_plain).then(|| url.to_string())
}

/// Returns a time in UTC to the minute, or the text if it is none.
fn time(text: &str) -> String {
    let parsed = text.parse::<Timestamp>();
    parsed.map_or_else(|_| escaped(text), |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

fn duration(milliseconds: u64) -> String {
    duration_text(std::time::Duration::from_millis(milliseconds).as_secs_f64())
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

/// Returns the text of a value; an empty text if there is none.
fn optional<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map(text).unwrap_or_default()
}

fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

/// Returns a text in one line as Markdown that shows it and nothing else. A sign in an element of its own begins no mention
/// and no reference, and is no sign of mathematics.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in single_line(text).chars().take(LONGEST_TEXT) {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '@' | '#' | '$' => {
                escaped.push_str("<span>");
                escaped.push(character);
                escaped.push_str("</span>");
            }
            ' ' | ',' | ';' | '?' | '%' | '\'' | '"' => escaped.push(character),
            _ if character.is_ascii_punctuation() => {
                escaped.push('\\');
                escaped.push(character);
            }
            _ => escaped.push(character),
        }
    }

    escaped
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::random_inputs::{check_texts, text};

    #[test]
    fn a_text_is_no_markup_no_mention_and_no_reference() {
        for (text, expected) in [
            ("Pause and resume", "Pause and resume"),
            ("a|b\nc", "a\\|b c"),
            ("**x** [y](z)", "\\*\\*x\\*\\* \\[y\\]\\(z\\)"),
            ("<img src=x>&amp;", "&lt;img src\\=x&gt;&amp;amp;"),
            ("@octocat #12 $x$", "<span>@</span>octocat <span>#</span>12 <span>$</span>x<span>$</span>"),
            ("https://x.example www.x.example", "https\\:\\/\\/x\\.example www\\.x\\.example"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }

    #[test]
    fn only_plain_addresses_of_the_web_are_linked() {
        for (address, expected) in [
            ("https://host/runs/r-1/a b.png", Some("https://host/runs/r-1/a%20b.png")),
            ("https://host/a.png?X-Amz-Signature=1", None),
            ("https://user:key@host/a.png", None),
            ("javascript:alert(1)", None),
            ("", None),
        ] {
            assert_eq!(readable_address(address).as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn a_report_has_its_failures_first_and_at_most_60_000_characters() {
        check_texts(&text(), |name| {
            let failures = (0..200).map(|_| {
                json!({"test": {"name": name}, "verdict": "FAILED", "observed": "x".repeat(1_000), "count": 1, "run_ids": ["r1"]})
            });
            let summary = json!({
                "target_type": "job", "target_id": "j", "state": "completed", "finished": 200, "total": 200,
                "verdicts": {"FAILED": 200}, "failures": failures.collect::<Vec<_>>(),
            });
            let summary = serde_json::from_value(summary).expect("a summary");
            let text = markdown(&ReportData { summary: Some(summary), ..ReportData::default() });

            assert!(text.chars().count() <= MAX_CHARACTERS && text.contains("_Left out: 1"), "{text}");
            assert!(!text.contains("### Runs"), "{text}");
        });
    }
}
