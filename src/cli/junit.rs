//! The results of a wait as JUnit XML for CI systems: one suite per job, with one case for the attempt that decides. The
//! attempts before it are the flaky runs or the reruns of the case, as Maven Surefire writes them.
//!
//! The screenshots of failures are saved beside the document.

use std::{
    cmp::Reverse,
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};

use futures_util::{StreamExt as _, stream};
use quick_junit::{
    NonSuccessKind, Property, Report, SerializeError, TestCase, TestCaseStatus, TestRerun, TestSuite,
};

use super::{gate::severity, output::path_in_job};
use crate::{
    call::Caller,
    failure::{Code, Failure},
    service::api::{
        Id, Uuid,
        bugs::{ListRunBugs, RunBug},
        jobs::GetJob,
        runs::{GetRun, RunDetail, RunStep, RunStepItem},
    },
    text::{first_characters, visible},
    tools::{
        project_client::ProjectClient,
        report::{Screenshot, download_screenshot, select_screenshots},
        waiting::{Completion, ResultItem, canonical_result, is_completed},
    },
};

/// Longest message of a failure, in characters. The text below the message has no limit.
const LONGEST_MESSAGE: usize = 300;

const CONCURRENT_READS: usize = 8;

/// Largest number of screenshots of one run.
const MAX_SCREENSHOTS: usize = 5;

/// Time limit for the screenshots of one run.
const SCREENSHOT_TIME: Duration = Duration::from_secs(30);

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

/// What a document says of a result beside its verdict. What could not be read is empty.
#[derive(Debug, Default)]
pub struct CaseDetails {
    /// The run that decides.
    pub run: Option<RunDetail>,
    /// The attempts before it.
    pub earlier: Vec<RunDetail>,
    /// The bugs of the run.
    pub bugs: Vec<RunBug>,
    /// Paths of files that CI systems show with the case.
    pub attachments: Vec<String>,
    /// Why a failure is no reason to fail the CI job: the case is then skipped.
    pub known: Option<String>,
}

/// Returns the suite with the case of a result. `plan` is the class name.
pub fn suite(item: &ResultItem, details: &CaseDetails, plan: &str) -> TestSuite {
    let run = details.run.as_ref();
    let verdict = item.verdict();
    let outcome = Outcome::from_verdict(verdict.as_deref());
    let verdict = verdict.unwrap_or_else(|| "not finished".to_owned());

    let causes = run.map(|run| causes_of(run, outcome)).unwrap_or_default();
    let report_of_cause = causes.first().and_then(|(_, step)| step.report.clone());
    let known = details.known.as_ref().filter(|_| outcome != Outcome::Passed);
    let message = [known, Some(&verdict), item.reason.as_ref().or(report_of_cause.as_ref())];
    let message = message.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(": ");

    let mut status = known.map_or(outcome, |_| Outcome::Skipped).status();
    status.add_reruns(earlier_attempts(item, &details.earlier));
    status.set_message(one_line(first_characters(&message, LONGEST_MESSAGE)));
    // The schemas allow no type of what is skipped.
    if !matches!(status, TestCaseStatus::Skipped { .. }) {
        status.set_type(one_line(&verdict));
    }
    if !causes.is_empty() {
        status.set_description(describe(&causes));
    }

    let platform = item.platform.as_ref().map(|platform| format!(" [{platform}]")).unwrap_or_default();
    let run_name = run.map(|run| run.head.test.name.as_str()).filter(|name| !name.is_empty());
    let name = format!("{}{platform}", run_name.unwrap_or_else(|| item.name()));
    let mut suite = suite_of_case(&name, plan, status, run.map(duration_of).unwrap_or_default());
    add_details(&mut suite, item, details, &verdict);

    suite
}

/// Returns the suite with an error in place of results: a device on which nothing was started, or tests that are known to exist
/// and could not be read.
pub fn suite_of_error(name: &str, verdict: &str, reason: &str, plan: &str) -> TestSuite {
    let mut status = Outcome::Error.status();
    status.set_type(verdict).set_message(one_line(&format!("{verdict}: {reason}")));
    suite_of_case(name, plan, status, Duration::ZERO)
}

fn suite_of_case(name: &str, class: &str, status: TestCaseStatus, time: Duration) -> TestSuite {
    let name = one_line(name);
    let mut case = TestCase::new(name.as_str(), status);
    case.set_classname(one_line(class)).set_time(time);

    let mut suite = TestSuite::new(name);
    suite.set_time(time).add_test_case(case);
    suite
}

/// Adds the ids with which the run, the test and the build of a case can be found, its verdict, its bugs and its files.
fn add_details(suite: &mut TestSuite, item: &ResultItem, details: &CaseDetails, verdict: &str) {
    let head = details.run.as_ref().map(|run| &run.head);
    let build = head.and_then(|head| head.build.as_ref());
    let ids = [
        ("run_id", item.run_id.clone()),
        ("job_id", item.job_id.clone()),
        ("result", Some(verdict.to_owned())),
        ("test_id", head.map(|head| head.test.id.clone())),
        ("build_id", build.map(|build| build.id.clone())),
        ("build_name", build.and_then(|build| build.name.clone())),
        ("platform", item.platform.clone()),
        ("attempts", item.attempts.map(|attempts| attempts.to_string())),
        // As the service writes it, also if it is not a time.
        ("started_at", head.and_then(|head| head.started_at.clone())),
    ];
    let known = ids.into_iter().filter_map(|(name, value)| Some((name, value.filter(|id| !id.is_empty())?)));
    suite.add_properties(known.map(|(name, value)| Property::new(name, one_line(&value))));

    let bugs = details.bugs.iter().map(|bug| format!("{}: {} ({})", bug.severity, bug.title, bug.bug_id));
    let bugs: Vec<_> = bugs.map(|bug| one_line(&bug)).collect();
    let files = details.attachments.iter().map(|path| format!("[[ATTACHMENT|{}]]\n", one_line(path)));
    // GitLab and Jenkins read this form.
    let output: String = bugs.iter().map(|bug| format!("Bug: {bug}\n")).chain(files).collect();
    suite.add_properties(bugs.into_iter().map(|bug| Property::new("bug", bug)));

    if let Some(case) = suite.test_cases.first_mut().filter(|_| !output.is_empty()) {
        case.set_system_out(output);
    }
}

/// Returns the attempts before the one that decides: their records, or else only their verdicts.
fn earlier_attempts(item: &ResultItem, runs: &[RunDetail]) -> Vec<TestRerun> {
    if runs.is_empty() {
        return item.earlier.iter().map(|verdict| earlier_attempt(verdict)).collect();
    }

    let attempts = runs.iter().map(|run| {
        let verdict = run.head.result.as_deref().map_or_else(|| "no_result".to_owned(), canonical_result);
        let causes = causes_of(run, Outcome::from_verdict(Some(&verdict)));
        let mut attempt = earlier_attempt(&verdict);
        if !causes.is_empty() {
            attempt.set_stack_trace(describe(&causes));
        }
        attempt
    });
    attempts.collect()
}

fn earlier_attempt(verdict: &str) -> TestRerun {
    let kind = match Outcome::from_verdict(Some(verdict)) {
        Outcome::Failure => NonSuccessKind::Failure,
        Outcome::Passed | Outcome::Error | Outcome::Skipped => NonSuccessKind::Error,
    };
    let verdict = one_line(verdict);

    let mut attempt = TestRerun::new(kind);
    attempt.set_type(verdict.clone()).set_message(verdict);
    attempt
}

/// Returns the steps that caused `outcome`, each with the number of its player. Steps after a failed step are skipped
/// as a consequence, so that a skipped step is a cause only if the whole run was skipped.
fn causes_of(run: &RunDetail, outcome: Outcome) -> Vec<(usize, &RunStep)> {
    let is_cause = |step: &RunStep| match step.run_result.as_deref().unwrap_or_default() {
        "" => false,
        result if result.eq_ignore_ascii_case("SUCCESS") => false,
        result => outcome == Outcome::Skipped || !result.eq_ignore_ascii_case("SKIPPED"),
    };
    let steps = run.players.iter().flat_map(|player| {
        let number = player.player.player_number.unwrap_or(1);
        player.steps.iter().map(move |step| (number, step))
    });

    steps.filter(|(_, step)| is_cause(step)).collect()
}

fn describe(steps: &[(usize, &RunStep)]) -> String {
    let expectation = |item: &RunStepItem| {
        let comment = item.comment.as_ref().map(|comment| format!(" ({comment})")).unwrap_or_default();
        format!("- {}: {}{comment}\n", item.status, item.expected)
    };
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let described = steps.iter().map(|(player, step)| {
        let number = step.step_number.unwrap_or_default();
        let (goal, result, report) = (text(&step.test.goal), text(&step.run_result), text(&step.report));
        let expectations: String = step.items.iter().flatten().map(expectation).collect();
        format!("Player {player}, step {number}: {goal}\n{result}: {report}\n{expectations}")
    });

    printable(&described.collect::<String>())
}

fn duration_of(run: &RunDetail) -> Duration {
    let milliseconds = run.head.duration_ms.unwrap_or_default();
    Duration::try_from_secs_f64(milliseconds / 1_000.0).unwrap_or_default()
}

/// Returns the JUnit document with these suites. Cases that share a name are numbered, because CI systems treat cases with the
/// same name as one case.
///
/// # Errors
/// Errors of the XML writer. Writing to memory does not cause any.
pub fn render_document(name: &str, mut suites: Vec<TestSuite>) -> Result<String, SerializeError> {
    // A numbered name may be the name of another case already.
    let mut taken: BTreeSet<_> = suites.iter().map(|suite| suite.name.as_str().to_owned()).collect();
    let mut seen = BTreeSet::new();
    for suite in &mut suites {
        let name = suite.name.as_str().to_owned();
        if seen.insert(name.clone()) {
            continue;
        }

        let mut numbered = (2..).map(|number: usize| format!("{name} ({number})"));
        let name = numbered.find(|name| taken.insert(name.clone())).unwrap_or_default();
        suite.test_cases.iter_mut().for_each(|case| case.name = name.as_str().into());
        suite.name = name.into();
    }

    let mut report = Report::new(one_line(name));
    report.set_time(suites.iter().filter_map(|suite| suite.time).sum()).add_test_suites(suites);
    // The schema of Jenkins allows no number of skipped tests here. The root is the first element.
    let skipped = format!(r#" skipped="{}""#, report.skipped);
    Ok(report.to_string()?.replacen(&skipped, "", 1))
}

fn one_line(text: &str) -> String {
    printable(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a text without characters that a reader cannot see or that XML does not allow. The writer would join words that a tab
/// separates. Two brackets would begin the name of a file that CI systems fetch; the second pass parts the third of three.
fn printable(text: &str) -> String {
    let text = visible(text).replace('\t', " ").replace(['\r', '\u{FFFE}', '\u{FFFF}'], "");
    text.replace("[[", "[ [").replace("[[", "[ [")
}

/// Reads the details of results. What cannot be read is logged, and missing from the cases.
pub(crate) struct CaseReader {
    client: ProjectClient,
    /// Name of what was started, for the class name of the cases.
    plan: String,
    /// Directory for screenshots; `None`: the cases have none.
    directory: Option<PathBuf>,
}

impl CaseReader {
    pub(crate) fn new(
        caller: &Caller,
        project: Option<&str>,
        plan: &str,
        directory: Option<PathBuf>,
    ) -> Self {
        let client = ProjectClient { caller: caller.clone(), project: project.map(str::to_owned) };
        Self { client, plan: plan.to_owned(), directory }
    }

    /// Returns the suites of a wait, in the order of its items. Failures of `known_runs` are known.
    pub(crate) async fn suites(
        &self,
        completion: &Completion,
        known_runs: &BTreeSet<String>,
    ) -> Vec<TestSuite> {
        let suites = completion.items.iter().map(|item| async {
            let mut details = match &item.run_id {
                Some(id) => self.details(item, id).await,
                None => CaseDetails::default(),
            };
            if item.run_id.as_ref().is_some_and(|id| known_runs.contains(id)) {
                details.known = Some("failed before, too".to_owned());
            }
            suite(item, &details, &self.plan)
        });

        stream::iter(suites).buffered(CONCURRENT_READS).collect().await
    }

    async fn details(&self, item: &ResultItem, id: &str) -> CaseDetails {
        let Some(run) = self.read_run(id).await else { return CaseDetails::default() };

        let bugs = self.read_bugs(id, &run).await;
        let earlier = self.read_earlier_runs(item, id).await;
        let attachments = match &self.directory {
            Some(directory) if !item.has_passed() => self.save_screenshots(directory, id, &run, &bugs).await,
            _ => Vec::new(),
        };

        CaseDetails { run: Some(run), earlier, bugs, attachments, known: None }
    }

    async fn read_run(&self, id: &str) -> Option<RunDetail> {
        let reply = self.client.call(&GetRun { run_id: Id(id.to_owned()) }).await;
        known("the steps of a run", reply).map(|reply| reply.view::<GetRun>())
    }

    async fn read_bugs(&self, id: &str, run: &RunDetail) -> Vec<RunBug> {
        // Only records of verification tests state the number of bugs.
        if run.head.bug_info.as_ref().is_some_and(|bugs| bugs.bug_count == Some(0)) {
            return Vec::new();
        }

        let reply = self.client.call(&ListRunBugs { run_id: Id(id.to_owned()) }).await;
        let bugs = known("the bugs of a run", reply).map(|reply| reply.view::<ListRunBugs>().page.data);
        let mut bugs = bugs.unwrap_or_default();
        bugs.sort_by_key(|bug| Reverse(severity(&bug.severity).ok()));
        bugs
    }

    /// Reads the completed attempts of the job other than `deciding`, if there are any.
    async fn read_earlier_runs(&self, item: &ResultItem, deciding: &str) -> Vec<RunDetail> {
        let job = item.job_id.as_ref().filter(|_| !item.earlier.is_empty());
        let Some(job_id) = job else { return Vec::new() };
        let reply = self.client.call(&GetJob { job_id: Uuid(job_id.clone()) }).await;
        let Some(job) = known("the earlier attempts of a job", reply) else { return Vec::new() };

        let mut runs = Vec::new();
        for attempt in job.view::<GetJob>().runs {
            if attempt.multiplayer_run_id != deciding && is_completed(attempt.state.as_deref()) {
                runs.extend(self.read_run(&attempt.multiplayer_run_id).await);
            }
        }

        runs
    }

    /// Saves the screenshots of a run, and returns their paths.
    async fn save_screenshots(
        &self,
        directory: &Path,
        id: &str,
        run: &RunDetail,
        bugs: &[RunBug],
    ) -> Vec<String> {
        let mut saved = Vec::new();
        let saving = async {
            for screenshot in select_screenshots(id, run, bugs).into_iter().take(MAX_SCREENSHOTS) {
                let path = self.save(directory, &screenshot).await;
                let path = known("a screenshot", path).map(|path| path_in_job(&path));
                saved.extend(path.map(|path| path.display().to_string()));
            }
        };

        tokio::select! {
            () = saving => {}
            () = self.client.caller.clock().timeout(SCREENSHOT_TIME) => {
                tracing::warn!("the JUnit file lacks screenshots of {id}: they were not loaded in time");
            }
        }

        saved
    }

    async fn save(&self, directory: &Path, screenshot: &Screenshot) -> Result<PathBuf, Failure> {
        let bytes = download_screenshot(&self.client, screenshot).await?;
        let path = directory.join(file_name(screenshot));
        let written = std::fs::create_dir_all(directory).and_then(|()| std::fs::write(&path, bytes));

        written.map_err(|error| {
            let message = format!("`{}` cannot be written: {error}", path.display());
            Failure::new(Code::FileError, message)
        })?;
        Ok(path)
    }
}

/// Returns the name of the file of a screenshot. It consists of characters that no system interprets.
fn file_name(screenshot: &Screenshot) -> String {
    let player = screenshot.player_id.replace(|one: char| !one.is_ascii_alphanumeric() && one != '-', "_");
    let shown = screenshot.step.map_or_else(|| "end".to_owned(), |step| format!("step-{step}"));
    let is_png = screenshot.file.filename.to_ascii_lowercase().ends_with(".png");

    format!("{player}-{shown}.{}", if is_png { "png" } else { "jpg" })
}

/// Returns what could be read. Logs what is missing from the document, unless the settings exclude it.
fn known<T>(what: &str, read: Result<T, Failure>) -> Option<T> {
    read.inspect_err(|failure| {
        if failure.code != Code::NotConfigured {
            tracing::warn!("the JUnit file lacks {what}: {failure}");
        }
    })
    .ok()
}
