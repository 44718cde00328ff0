//! The results of a wait as JUnit XML for CI systems: one suite per job, with one case for the attempt that decides. The
//! attempts before it are the flaky runs or the reruns of the case, as Maven Surefire writes them.

mod reading;

use std::{cmp::Reverse, collections::BTreeSet, time::Duration};

use quick_junit::{
    NonSuccessKind, Property, Report, SerializeError, TestCase, TestCaseStatus, TestRerun, TestSuite,
};

pub(crate) use self::reading::CaseReader;
use super::gate::severity;
use crate::{
    service::api::{
        bugs::RunBug,
        runs::{RunDetail, RunStep, RunStepItem},
    },
    text::{first_characters, visible},
    tools::waiting::{Completion, ResultItem, canonical_result},
};

/// Longest message of a failure, in characters. The text below the message has no limit.
const LONGEST_MESSAGE: usize = 300;

/// Returns the name of what was started, for the class name of the cases: the name of the plan, else `tests`.
pub fn plan_name(completion: &Completion) -> String {
    completion.plan_name.clone().unwrap_or_else(|| "tests".to_owned())
}

/// How a case ended, in the terms of JUnit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    /// The product did not behave as expected.
    Failure,
    /// There is no verdict on the product.
    Error,
    /// Nothing was checked.
    Skipped,
}

impl Outcome {
    /// Returns the outcome of a verdict; `None` stands for a test that was not finished in time. An unknown verdict is
    /// a failure, because only SUCCESS means that a test passed.
    fn from_verdict(verdict: Option<&str>) -> Self {
        match verdict {
            Some("SUCCESS") => Self::Passed,
            Some("SKIPPED") => Self::Skipped,
            Some("ERROR" | "TIMEOUT" | "STOPPED" | "BLOCKED" | "MAX_STEPS" | "no_run" | "no_result")
            | None => Self::Error,
            Some(_) => Self::Failure,
        }
    }

    fn status(self) -> TestCaseStatus {
        match self {
            Self::Passed => TestCaseStatus::success(),
            Self::Failure => TestCaseStatus::non_success(NonSuccessKind::Failure),
            Self::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
            Self::Skipped => TestCaseStatus::skipped(),
        }
    }
}

/// A test case of the document.
#[derive(Clone, Debug)]
pub struct Case {
    name: String,
    class: String,
    outcome: Outcome,
    /// The verdict of the service, or the reason why there is none.
    verdict: String,
    message: String,
    report: String,
    time: Duration,
    started: Option<String>,
    properties: Vec<Property>,
    /// The attempts before the one that decides.
    earlier: Vec<TestRerun>,
    /// Bugs and screenshots in the form that GitLab and Jenkins read.
    output: String,
}

impl Case {
    /// Creates the case of `item`, with details of `run` if the run could be read. `plan` is the class name.
    pub fn new(item: &ResultItem, run: Option<&RunDetail>, plan: &str) -> Self {
        let verdict = item.verdict();
        let outcome = Outcome::from_verdict(verdict.as_deref());
        let verdict = verdict.unwrap_or_else(|| "not finished".to_owned());

        let causes = run.map(|run| causes_of(run, outcome)).unwrap_or_default();
        let report_of_cause = causes.first().and_then(|(_, step)| step.report.clone());
        let reason = item.reason.clone().or(report_of_cause);
        let message = reason.map_or_else(|| verdict.clone(), |reason| format!("{verdict}: {reason}"));

        let platform = item.platform.as_ref().map(|platform| format!(" [{platform}]")).unwrap_or_default();
        let run_name = run.map(|run| run.head.test.name.as_str()).filter(|name| !name.is_empty());

        Self {
            name: format!("{}{platform}", run_name.unwrap_or_else(|| item.name())),
            class: plan.to_owned(),
            outcome,
            message: first_characters(&message, LONGEST_MESSAGE).to_owned(),
            report: run.map(|run| describe_causes(run, outcome)).unwrap_or_default(),
            time: run.map(duration_of).unwrap_or_default(),
            started: run.and_then(|run| run.head.started_at.clone()),
            properties: properties(item, run, &verdict),
            earlier: item.earlier.iter().map(|verdict| earlier_attempt(verdict)).collect(),
            output: String::new(),
            verdict,
        }
    }

    /// Returns the case of a failure that is known, for the reason `reason`: it is skipped, so that it fails no CI job.
    /// The message keeps what happened.
    #[must_use]
    pub fn known(mut self, reason: &str) -> Self {
        if self.outcome != Outcome::Passed {
            self.outcome = Outcome::Skipped;
            let message = format!("{reason}: {}", self.message);
            first_characters(&message, LONGEST_MESSAGE).clone_into(&mut self.message);
        }
        self
    }

    /// Returns the case with the records of the attempts before the one that decides. Without records, the case has their
    /// results.
    #[must_use]
    pub fn with_earlier_runs(mut self, runs: &[RunDetail]) -> Self {
        if !runs.is_empty() {
            self.earlier = runs.iter().map(earlier_run).collect();
        }
        self
    }

    /// Returns the case with the bugs of its run, the worst first.
    #[must_use]
    pub fn with_bugs(mut self, bugs: &[RunBug]) -> Self {
        let mut bugs: Vec<_> = bugs.iter().collect();
        bugs.sort_by_key(|bug| Reverse(severity(&bug.severity).ok()));
        for bug in bugs {
            let line = one_line(&format!("{}: {} ({})", bug.severity, bug.title, bug.bug_id));
            self.output.extend(["Bug: ", &line, "\n"]);
            self.properties.push(Property::new("bug", line));
        }
        self
    }

    /// Returns the case with files that CI systems show with it.
    #[must_use]
    pub fn with_attachments(mut self, paths: Vec<String>) -> Self {
        let lines = paths.into_iter().map(|path| format!("[[ATTACHMENT|{}]]\n", one_line(&path)));
        self.output.extend(lines);
        self
    }

    /// Creates the case of a device on which nothing was started.
    pub fn not_started(device: &str, reason: &str, plan: &str) -> Self {
        Self::without_test(format!("[{device}]"), "not started", reason, plan)
    }

    /// Creates the case of tests that are known to exist and could not be read.
    pub fn not_read(reason: &str, plan: &str) -> Self {
        Self::without_test("[other tests]".to_owned(), "not read", reason, plan)
    }

    fn without_test(name: String, verdict: &str, reason: &str, plan: &str) -> Self {
        let message = format!("{verdict}: {reason}");
        let case = Self::new(&ResultItem::default(), None, plan);
        Self { name, verdict: verdict.to_owned(), message, properties: Vec::new(), ..case }
    }

    /// Returns the suite that contains only this case, under the name `name`.
    fn to_suite(&self, name: &str) -> TestSuite {
        let mut status = self.outcome.status();
        status.add_reruns(self.earlier.iter().cloned());
        if self.outcome != Outcome::Passed {
            status.set_type(one_line(&self.verdict)).set_message(one_line(&self.message));
        }
        if !self.report.is_empty() {
            status.set_description(printable(&self.report));
        }

        let mut case = TestCase::new(name, status);
        case.set_classname(one_line(&self.class)).set_time(self.time);
        if !self.output.is_empty() {
            case.set_system_out(self.output.as_str());
        }

        let mut suite = TestSuite::new(name);
        suite.set_time(self.time).add_test_case(case).add_properties(self.properties.iter().cloned());
        if let Some(started) = &self.started {
            // As the service writes it, also if it is not a time.
            suite.extra.insert("timestamp".into(), one_line(started).into());
        }

        suite
    }
}

/// Returns an attempt that was retried, of which only the verdict is known.
fn earlier_attempt(verdict: &str) -> TestRerun {
    let kind = match Outcome::from_verdict(Some(verdict)) {
        Outcome::Failure => NonSuccessKind::Failure,
        Outcome::Passed | Outcome::Error | Outcome::Skipped => NonSuccessKind::Error,
    };
    let verdict = one_line(verdict);

    let mut attempt = TestRerun::new(kind);
    attempt.set_type(verdict.clone()).set_message(verdict).set_time(Duration::ZERO);
    attempt
}

fn earlier_run(run: &RunDetail) -> TestRerun {
    let verdict = run.head.result.as_deref().map_or_else(|| "no_result".to_owned(), canonical_result);
    let report = describe_causes(run, Outcome::from_verdict(Some(&verdict)));

    let mut attempt = earlier_attempt(&verdict);
    attempt.set_time(duration_of(run));
    if !report.is_empty() {
        attempt.set_stack_trace(printable(&report));
    }
    attempt
}

/// Returns the steps that caused `outcome`, each with the number of its player. Steps after a failed step are skipped
/// as a consequence, so that a skipped step is a cause only if the whole run was skipped.
fn causes_of(run: &RunDetail, outcome: Outcome) -> Vec<(usize, &RunStep)> {
    let is_cause = |step: &RunStep| {
        let result = step.run_result.as_deref().unwrap_or_default();
        let is_skipped = result.eq_ignore_ascii_case("SKIPPED");
        !result.is_empty()
            && !result.eq_ignore_ascii_case("SUCCESS")
            && (!is_skipped || outcome == Outcome::Skipped)
    };
    let steps = run.players.iter().flat_map(|player| {
        let number = player.player.player_number.unwrap_or(1);
        player.steps.iter().map(move |step| (number, step))
    });

    steps.filter(|(_, step)| is_cause(step)).collect()
}

fn describe_causes(run: &RunDetail, outcome: Outcome) -> String {
    causes_of(run, outcome).iter().map(|(player, step)| describe_step(*player, step)).collect()
}

fn duration_of(run: &RunDetail) -> Duration {
    let milliseconds = run.head.duration_ms.unwrap_or_default();
    Duration::try_from_secs_f64(milliseconds / 1_000.0).unwrap_or_default()
}

/// Returns the text of a step: its goal, its report and its expected results.
fn describe_step(player: usize, step: &RunStep) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let expectation = |item: &RunStepItem| {
        let comment = item.comment.as_ref().map(|comment| format!(" ({comment})")).unwrap_or_default();
        format!("- {}: {}{comment}\n", item.status, item.expected)
    };

    let number = step.step_number.unwrap_or_default();
    let (goal, result, report) = (text(&step.test.goal), text(&step.run_result), text(&step.report));
    let expectations: String = step.items.iter().flatten().map(expectation).collect();

    format!("Player {player}, step {number}: {goal}\n{result}: {report}\n{expectations}")
}

/// Returns the ids with which the run, the test and the build of a case can be found, and the verdict.
fn properties(item: &ResultItem, run: Option<&RunDetail>, verdict: &str) -> Vec<Property> {
    let test = run.map(|run| run.head.test.id.clone());
    let build = run.and_then(|run| run.head.build.clone());
    let all = [
        ("run_id", item.run_id.clone()),
        ("job_id", item.job_id.clone()),
        ("result", Some(verdict.to_owned())),
        ("test_id", test),
        ("build_id", build.as_ref().map(|build| build.id.clone())),
        ("build_name", build.and_then(|build| build.name)),
        ("platform", item.platform.clone()),
        ("attempts", item.attempts.map(|attempts| attempts.to_string())),
    ];
    let known =
        all.into_iter().filter_map(|(name, value)| Some((name, value.filter(|text| !text.is_empty())?)));

    known.map(|(name, value)| Property::new(name, one_line(&value))).collect()
}

/// Returns the JUnit document with the name `name` and the cases `cases`.
///
/// # Errors
/// Errors of the XML writer. Writing to memory does not cause any.
pub fn render_document(name: &str, cases: &[Case]) -> Result<String, SerializeError> {
    let mut report = Report::new(one_line(name));
    report.set_time(cases.iter().map(|case| case.time).sum());
    report.add_test_suites(unique_names(cases).iter().zip(cases).map(|(name, case)| case.to_suite(name)));

    report.to_string()
}

/// Returns the names of the cases. Cases that share a name are numbered, because CI systems treat cases with the same
/// name as one case.
fn unique_names(cases: &[Case]) -> Vec<String> {
    let originals: Vec<_> = cases.iter().map(|case| one_line(&case.name)).collect();
    // A numbered name may be the name of another case already.
    let mut taken: BTreeSet<_> = originals.iter().cloned().collect();
    let mut seen = BTreeSet::new();

    let unique = |original: String| {
        if seen.insert(original.clone()) {
            return original;
        }
        let numbered = (2..).map(|number: usize| format!("{original} ({number})"));
        numbered.into_iter().find(|name| taken.insert(name.clone())).unwrap_or_default()
    };
    originals.into_iter().map(unique).collect()
}

/// Returns `text` in one line, with one space between words.
fn one_line(text: &str) -> String {
    printable(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Removes hidden characters, and replaces other characters that XML does not allow by their escape sequences. The
/// writer would remove tabs and characters after an escape.
fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for character in visible(text).chars() {
        match character {
            '\r' => {}
            '\t' => printable.push(' '),
            '\n' | ' '..='\u{7E}' | '\u{A0}'..='\u{FFFD}' | '\u{10000}'.. => printable.push(character),
            _ => printable.extend(character.escape_unicode()),
        }
    }

    printable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_removed_and_forbidden_ones_escaped() {
        for (text, expected) in
            [("a\r\nb", "a\nb"), ("a\u{0}b\u{202E}", "ab"), ("a\u{FFFE}", "a\\u{fffe}"), ("a\tb", "a b")]
        {
            assert_eq!(printable(text), expected);
        }
    }

    #[test]
    fn a_known_failure_is_skipped_with_its_reason_and_what_happened() {
        let case = |verdict: &str| Case::not_started("Pixel", verdict, "plan");
        let known = case("broken").known("fails on build 1, too");
        let document = render_document("plan", &[known]).expect("a document");

        let message = "message=\"fails on build 1, too: not started: broken\"";
        assert!(document.contains(message) && document.contains("failures=\"0\""), "{document}");
        assert!(document.contains("<skipped "), "{document}");
    }
}
