//! A summary as text for a terminal, as HTML without scripts, or as Markdown for the summary of a CI job and for pull requests.
//!
//! All say the same in the same order, failures first. Markdown has links to pictures and a list of all runs too. In it every
//! text of the service is escaped, so that a name is no markup, no mention of a user and no reference to an issue.

use std::time::Duration;

use reqwest::Url;
use unicode_width::UnicodeWidthStr as _;

use super::{ReportData, pictures::ReportPicture};
use crate::{
    service::{api::runs::Run, lenient::view},
    text::{WallClock, duration_text, shorten_line, single_line, visible},
    tools::{
        summary::{BugEntry, BuildName, Comparison, FailureEntry, History, ListedTest, Summary, TestChange},
        waiting::canonical_result,
    },
};

/// Largest size of Markdown, in bytes, without the note about what is left out. Comments of pull requests have at most 65,536
/// characters.
const MAX_BYTES: usize = 59_800;

/// Longest text of the service in one place of Markdown, in characters.
const LONGEST_TEXT: usize = 2_000;

/// Width of the label at the start of a line in a terminal.
const LABEL_WIDTH: usize = 14;

/// Longest name of a test in the grid, in characters.
const LONGEST_NAME: usize = 40;

/// Returns the summary for a terminal.
pub fn terminal_text(summary: &Summary, clock: &WallClock) -> String {
    Page::new(Form::Terminal(Some(clock))).render(summary, &ReportData::default())
}

/// Returns the report as Markdown.
pub fn markdown(data: &ReportData) -> String {
    Page::new(Form::Markdown).render(&data.summary, data)
}

/// Returns the summary as HTML for readers whose browser may run no script.
pub(super) fn html(summary: &Summary) -> String {
    let text = Page::new(Form::Terminal(None)).render(summary, &ReportData::default());
    let element = |(index, line): (usize, &str)| {
        let tag = match (index, line.starts_with(' ')) {
            (0, _) => "h1",
            (_, true) => "p",
            (_, false) => "h2",
        };
        format!("<{tag}>{}</{tag}>\n", visible(line).replace('&', "&amp;").replace('<', "&lt;"))
    };
    text.lines().enumerate().filter(|(_, line)| !line.is_empty()).map(element).collect()
}

#[derive(Clone, Copy, Debug)]
enum Form<'a> {
    /// Shows times on this clock, with their age; without one as in Markdown.
    Terminal(Option<&'a WallClock>),
    Markdown,
}

impl Form<'_> {
    fn text(self, text: &str) -> String {
        match self {
            Self::Terminal(_) => single_line(text),
            Self::Markdown => escaped(text),
        }
    }

    fn id(self, id: &str) -> String {
        match self {
            Self::Terminal(_) => single_line(id),
            Self::Markdown => format!("<code>{}</code>", escaped(id)),
        }
    }

    /// Returns a verdict. In Markdown it has a sign that can be seen without colours.
    fn verdict(self, word: &str) -> String {
        let sign = match word {
            _ if matches!(self, Self::Terminal(_)) => return single_line(word),
            "SUCCESS" => "✅",
            "FAILED" | "ERROR" => "❌",
            "SKIPPED" => "⏭️",
            "running" | "RUNNING" | "QUEUED" => "⏳",
            _ => "⚠️",
        };
        format!("{sign} {}", escaped(word))
    }

    fn time(self, time: &str) -> String {
        match self {
            Self::Terminal(Some(clock)) => clock.time_and_age(time),
            // Whoever reads it later is elsewhere.
            _ => self.text(&WallClock::stopped_at(jiff::Timestamp::UNIX_EPOCH).time(time)),
        }
    }

    fn build(self, build: &BuildName) -> String {
        match &build.name {
            Some(name) => format!("{} ({})", self.text(name), self.id(beginning(&build.id))),
            None => self.id(&build.id),
        }
    }

    fn bug(self, bug: &BugEntry) -> String {
        let id = bug.id.as_ref().map(|id| format!(" ({})", self.id(id))).unwrap_or_default();
        format!("{}: {}{id}", self.text(&bug.severity), self.text(&bug.title))
    }

    /// Returns the end of a sentence about a run.
    fn in_run(self, run: Option<&String>) -> String {
        run.map(|run| format!(" in {}", self.id(run))).unwrap_or_default()
    }

    fn change(self, change: &TestChange) -> String {
        let (name, run) = (self.text(&change.test.name), self.in_run(change.run_id.as_ref()));
        let [was, now] =
            [&change.was, &change.verdict].map(|word| word.as_ref().map(|word| self.verdict(word)));
        match (was, now) {
            (Some(was), Some(now)) => format!("{name}: {was}, now {now}{run}"),
            (Some(was), None) => format!("{name}: was {was}"),
            (None, Some(now)) => format!("{name}: {now}{run}"),
            (None, None) => name,
        }
    }
}

/// A text that grows by whole lines. Markdown takes them until it is full.
#[derive(Debug)]
struct Page<'a> {
    form: Form<'a>,
    text: String,
    lines_left_out: usize,
}

impl<'a> Page<'a> {
    fn new(form: Form<'a>) -> Self {
        Self { form, text: String::new(), lines_left_out: 0 }
    }

    fn add(&mut self, line: &str) {
        let is_full = self.lines_left_out > 0 || self.text.len() + line.len() > MAX_BYTES;
        if is_full && matches!(self.form, Form::Markdown) {
            self.lines_left_out += 1;
        } else {
            self.text.push_str(line);
        }
    }

    fn section(&mut self, heading: &str) {
        self.add(&match self.form {
            Form::Terminal(_) => format!("\n{heading}\n"),
            Form::Markdown => format!("\n### {heading}\n\n"),
        });
    }

    fn item(&mut self, text: &str) {
        let sign = if matches!(self.form, Form::Markdown) { "-" } else { " " };
        self.add(&format!("{sign} {text}\n"));
    }

    /// Adds a line with a label and its texts, if there are any.
    fn line(&mut self, label: &str, texts: impl IntoIterator<Item = String>) {
        let texts = texts.into_iter().collect::<Vec<_>>().join(", ");
        match self.form {
            _ if texts.is_empty() => {}
            Form::Terminal(_) => self.item(&format!("{label:<LABEL_WIDTH$} {texts}")),
            Form::Markdown => self.item(&format!("**{label}:** {texts}")),
        }
    }

    /// Renders the summary with the pictures, the runs and the gaps of the report.
    fn render(mut self, summary: &Summary, data: &ReportData) -> String {
        let form = self.form;
        self.head(summary);

        let pictures = data.pictures.iter().flat_map(|album| &album.items).collect::<Vec<_>>();
        summary.failures.iter().flatten().for_each(|entry| self.failure(entry, &pictures));
        self.tests("Passed after a retry", summary.passed_after_retry.as_deref().unwrap_or_default());
        self.tests("Passed with bugs", &summary.passed_with_bugs);
        self.tests("Slowest", &summary.slowest);
        summary.comparison.iter().for_each(|comparison| self.comparison(comparison));
        summary.history.iter().for_each(|history| self.history(history));
        self.runs(data.runs.as_deref().unwrap_or_default());

        let mut unread = summary.missing.unread.iter().chain(&data.unread).peekable();
        if unread.peek().is_some() {
            self.section("Could not be read");
        }
        unread.for_each(|one| self.item(&format!("{}: {}", form.text(&one.what), form.text(&one.why))));

        if let Some(left_out) = &summary.left_out {
            let counts = left_out.counts.iter().map(|(what, count)| format!("{count} {}", form.text(what)));
            let how = form.text(&left_out.how.to_string());
            self.add(&format!("\nLeft out: {}; {how}\n", counts.collect::<Vec<_>>().join(", ")));
        }
        if self.lines_left_out > 0 {
            let why = "because the size is limited. The report page has everything (`--html`)";
            let note = format!("\n_Left out: {} more lines, {why}._\n", self.lines_left_out);
            self.text.push_str(&note);
        }

        self.text
    }

    fn head(&mut self, summary: &Summary) {
        let form = self.form;
        let (name, total) = (form.text(summary.title()), summary.total);
        let passed = summary.verdicts.get("SUCCESS").unwrap_or(&0);
        let unfinished = match total.saturating_sub(summary.finished) {
            0 => String::new(),
            unfinished => format!(", {unfinished} not finished"),
        };
        let title = format!("{name}: {passed} of {total} passed{unfinished}\n");
        self.add(&if matches!(form, Form::Markdown) { format!("## {title}\n") } else { title });

        let mut verdicts: Vec<_> = summary.verdicts.iter().collect();
        verdicts.sort_by_key(|(word, _)| *word == "SUCCESS");
        self.line("verdicts", verdicts.iter().map(|(word, count)| format!("{count} {}", form.verdict(word))));

        let bugs = summary.bugs.iter().flatten();
        self.line("bugs", bugs.map(|(word, count)| format!("{count} {}", form.text(word))));

        self.line("started", summary.started_at.iter().map(|start| form.time(start)));
        self.line("took", summary.duration_ms.map(took));
        self.line("build", summary.build.iter().chain(&summary.builds).map(|build| form.build(build)));
    }

    fn failure(&mut self, entry: &FailureEntry, pictures: &[&ReportPicture]) {
        let form = self.form;
        let times = if entry.count > 1 { format!(" ({} times)", entry.count) } else { String::new() };
        self.section(&format!("{}: {}{times}", form.verdict(&entry.verdict), form.text(&entry.test.name)));

        if let Some(step) = &entry.step {
            let player = step.player.map(|player| format!("player {player}"));
            let number = step.number.map(|number| format!("step {number}"));
            let label = [player, number].into_iter().flatten().collect::<Vec<_>>().join(", ");
            self.line(&label, step.goal.iter().map(|goal| form.text(goal)));
        }
        self.line("expected", entry.expected.iter().map(|text| form.text(text)));
        self.line("observed", entry.observed.iter().map(|text| form.text(text)));
        self.bugs(&entry.bugs);
        self.line("devices", entry.devices.iter().map(|device| form.text(device)));
        self.line("runs", entry.run_ids.iter().map(|id| form.id(id)));
        self.line("jobs", entry.job_ids.iter().map(|id| form.id(id)));

        let shown = pictures.iter().filter(|picture| entry.run_ids.contains(&picture.run_id));
        self.line("screenshots", shown.filter_map(|picture| linked_picture(picture)));
        self.line("files", entry.artifacts.iter().map(|name| form.text(name)));
    }

    fn bugs(&mut self, bugs: &[BugEntry]) {
        for bug in bugs {
            self.line("bug", [self.form.bug(bug)]);
        }
    }

    /// Adds tests that have something in common, with what is special about each.
    fn tests(&mut self, heading: &str, tests: &[ListedTest]) {
        let form = self.form;
        if !tests.is_empty() {
            self.section(heading);
        }
        for one in tests {
            let earlier: Vec<_> = one.earlier.iter().map(|word| form.verdict(word)).collect();
            let earlier = match earlier.as_slice() {
                [] => String::new(),
                earlier => format!(": {}, then passed", earlier.join(", ")),
            };
            let took = one.duration_ms.map(|span| format!(": {}", took(span))).unwrap_or_default();
            let (name, run) = (form.text(&one.test.name), form.in_run(one.run_id.as_ref()));
            self.item(&format!("{name}{earlier}{took}{run}"));
            self.bugs(&one.bugs);
        }
    }

    fn comparison(&mut self, comparison: &Comparison) {
        let form = self.form;
        let heading = comparison.with.as_ref().map(|with| {
            let start = with.started_at.iter().map(|start| format!(", {}", form.time(start)));
            let build = with.build.iter().map(|build| format!(", build {}", form.build(build)));
            format!("Compared with {}{}", form.id(&with.target_id), start.chain(build).collect::<String>())
        });
        self.section(heading.as_deref().unwrap_or("Comparison"));
        self.line("note", comparison.note.iter().map(|note| form.text(note)));

        for (label, changes) in [
            ("new", &comparison.new),
            ("fixed", &comparison.fixed),
            ("known", &comparison.known),
            ("without result", &comparison.not_run),
        ] {
            changes.iter().flatten().for_each(|change| self.line(label, [form.change(change)]));
        }
    }

    /// Adds the last results as a grid with a letter for each, the letters, and a line for each result.
    fn history(&mut self, history: &History) {
        let flaky = history.tests.iter().filter(|test| test.label.as_deref() == Some("flaky")).count();
        let (columns, rows, changing) = (history.results.len(), history.tests.len(), history.changing);
        self.section(&format!("Last {columns} results: {rows} tests, {changing} changing, {flaky} flaky"));

        let named = history.tests.iter().map(|test| (shorten_line(&test.test.name, LONGEST_NAME), test));
        let named: Vec<_> = named.collect();
        let width = named.iter().map(|(name, _)| name.width()).max().unwrap_or_default();
        let numbers = (1..=columns).map(|number| format!(" {number:>2}"));
        let mut lines = vec![format!("  {}{}", " ".repeat(width), numbers.collect::<String>())];
        for (name, test) in &named {
            let padding = " ".repeat(width.saturating_sub(name.width()));
            let letters = test.results.chars().map(|letter| format!("  {letter}"));
            let label = test.label.iter().map(|label| format!("  {label}"));
            lines.push(format!("  {name}{padding}{}", letters.chain(label).collect::<String>()));
        }

        lines.push(format!("\n  {}\n", history.legend().join(", ")));
        for (number, result) in (1..).zip(&history.results) {
            let id = result.id.as_deref().map(beginning);
            let parts = [result.started_at.as_deref(), id, result.build.as_deref()].into_iter().flatten();
            lines.push(format!("  {number:>2}  {}", parts.map(single_line).collect::<Vec<_>>().join("  ")));
        }

        let grid = lines.join("\n") + "\n";
        self.add(&match self.form {
            Form::Terminal(_) => format!("\n{grid}"),
            // A block of code, in which nothing is escaped: a line with letters cannot end it.
            Form::Markdown => format!("~~~~\n{grid}~~~~\n"),
        });
    }

    /// Adds the runs of a job or an execution, those that did not pass first.
    fn runs(&mut self, runs: &[serde_json::Value]) {
        let form = self.form;
        let verdict =
            |run: &Run| run.head.result.as_deref().map_or_else(|| run.head.state.clone(), canonical_result);
        let mut runs: Vec<_> = runs.iter().map(view::<Run>).map(|run| (verdict(&run), run.head)).collect();
        runs.sort_by_key(|(verdict, _)| verdict == "SUCCESS");
        if !runs.is_empty() {
            self.section("Runs");
        }
        for (verdict, run) in runs {
            let took = run.duration_ms.map(|span| format!(", {}", duration_text(span / 1_000.0)));
            let (name, id) = (form.text(&run.test.name), form.id(&run.multiplayer_run_id));
            let verdict = form.verdict(&verdict);
            self.item(&format!("{verdict}: {name}{} in {id}", took.unwrap_or_default()));
        }
    }
}

fn took(milliseconds: u64) -> String {
    duration_text(Duration::from_millis(milliseconds).as_secs_f64())
}

/// Returns the beginning of an id, which commands take in place of the whole: a line then fits into a terminal.
fn beginning(id: &str) -> &str {
    id.split('-').next().unwrap_or(id)
}

/// Returns the link to a picture in Markdown; `None` if its address is not for readers.
fn linked_picture(picture: &ReportPicture) -> Option<String> {
    let shown = picture.step.map_or_else(|| "end".to_owned(), |step| format!("step {step}"));
    // The address of a link ends at one of these characters.
    let url = readable_address(&picture.url)?.replace('<', "%3C").replace('>', "%3E");
    let url = url.replace('\\', "%5C").replace('&', "&amp;");
    Some(format!("[player {}, {shown}](<{url}>)", picture.player))
}

/// Returns an address that a report may publish: of the web, and without a permission in it. A query may be one, because
/// presigned addresses have their signature there.
fn readable_address(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    (matches!(url.scheme(), "http" | "https") && is_plain).then(|| url.to_string())
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
            '@' | '#' | '$' => escaped.extend(["<span>", &character.to_string(), "</span>"]),
            ' ' | ',' | ';' | '?' | '%' | '\'' | '"' => escaped.push(character),
            _ if character.is_ascii_punctuation() => escaped.extend(['\\', character]),
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
    fn markdown_has_failures_first_and_at_most_60_000_characters() {
        check_texts(&text(), |name| {
            let failure = json!({
                "test": {"name": name}, "verdict": "FAILED", "observed": "x".repeat(1_000), "count": 1, "run_ids": ["r1"],
            });
            let summary = json!({
                "target_type": "job", "state": "completed", "finished": 200, "total": 200, "verdicts": {"FAILED": 200},
                "failures": vec![failure; 200], "slowest": [{"test": {"name": name}}],
            });
            let summary = serde_json::from_value(summary).expect("a summary");
            let text = markdown(&ReportData { summary, ..ReportData::default() });

            assert!(text.chars().count() <= 60_000 && text.contains("\n_Left out: "), "{text}");
            assert!(!text.contains("### Slowest"), "{text}");
        });
    }
}
