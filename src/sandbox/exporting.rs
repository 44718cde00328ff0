//! Export to the test-management system (specification, POST runs/export; supplement 2.7).

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Answer, Answered, Caller, Fault, World,
    attempt::{Attempt, Progress},
    clock::Moment,
    executions,
    jobs::Job,
    project::{Project, find},
    timeline::Timeline,
};
use crate::api::exports::{ExportResult, ExportTmsysRun, ExportWarning};

/// Text of the service while an export of the same execution is in progress (supplement 1.5).
const IN_PROGRESS: &str = "an export for this test plan is already in progress";

/// How long an export takes, in milliseconds.
const EXPORT_MS: u32 = 1_840;

/// The test-management system, as far as it remembers what was exported to it.
#[derive(Debug)]
pub(super) struct Remote {
    next_run: u64,
    next_plan: u64,
    /// The latest export of each execution.
    exported: BTreeMap<String, ExportResult>,
    in_progress: BTreeSet<String>,
}

impl Default for Remote {
    fn default() -> Self {
        Self { next_run: 812, next_plan: 77, exported: BTreeMap::new(), in_progress: BTreeSet::new() }
    }
}

impl Remote {
    /// Marks whether an export of an execution is in progress.
    pub(super) fn mark(&mut self, execution: &str, in_progress: bool) {
        if in_progress {
            self.in_progress.insert(execution.to_owned());
        } else {
            self.in_progress.remove(execution);
        }
    }
}

/// The three sources of an export.
enum Source {
    Run(String),
    Runs(Vec<String>),
    Execution(String),
}

impl Source {
    fn of(asked: &ExportTmsysRun) -> Option<Self> {
        let run = asked.multiplayer_run_id.as_ref().map(|id| Self::Run(id.0.clone()));
        let runs = asked.multiplayer_run_ids.as_ref();
        let runs = runs.map(|ids| Self::Runs(ids.iter().map(|id| id.0.clone()).collect()));
        let execution = asked.test_plan_execution_id.as_ref();
        run.or(runs).or(execution.map(|id| Self::Execution(id.0.to_ascii_lowercase())))
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Run(_) => "single_run",
            Self::Runs(_) => "multiple_runs",
            Self::Execution(_) => "test_plan",
        }
    }

    /// The completed runs of this source.
    fn runs<'a>(&self, project: &'a Project, now: Moment) -> Result<Vec<(&'a Job, Attempt)>, Fault> {
        let ids = match self {
            Self::Run(id) => std::slice::from_ref(id),
            Self::Runs(ids) => ids.as_slice(),
            Self::Execution(id) => return last_completed(project, id, now),
        };
        let runs: Vec<_> = ids.iter().map(|id| project.run(id, now)).collect::<Result<_, _>>()?;
        match runs.iter().find(|(_, run)| run.progress(now) != Progress::Completed) {
            Some((_, run)) => Err(Fault::invalid(format!("run is not completed: {}", run.id))),
            None => Ok(runs),
        }
    }
}

/// The last completed run of each job of an execution.
fn last_completed<'a>(
    project: &'a Project,
    execution: &str,
    now: Moment,
) -> Result<Vec<(&'a Job, Attempt)>, Fault> {
    if find(&project.executions, execution).is_none() {
        return Err(Fault::not_found(executions::NOT_FOUND));
    }
    let done = |job: &Job| {
        let attempts = Timeline::of(job).into_attempts(now);
        attempts.filter(|run| run.progress(now) == Progress::Completed).last()
    };
    Ok(project.jobs_of(execution).filter_map(|job| Some((job, done(job)?))).collect())
}

impl Answer<ExportTmsysRun> for World {
    fn answer(&mut self, asked: ExportTmsysRun, caller: &Caller) -> Result<Answered<ExportResult>, Fault> {
        let project = self.project(caller)?;
        if !project.integration {
            return Err(Fault::forbidden("integration is not enabled"));
        }
        let source = Source::of(&asked).ok_or_else(|| Fault::invalid("no source"))?;
        let runs = source.runs(project, self.now)?;
        let mut batch = Batch::of(&runs);
        if let Source::Execution(execution) = &source {
            if self.remote.in_progress.contains(execution) {
                return Err(Fault::new(http::StatusCode::CONFLICT, IN_PROGRESS));
            }
            if let Some(earlier) =
                self.remote.exported.get(execution).filter(|_| asked.force_new_run == Some(false))
            {
                return Ok(again(earlier).into());
            }
        }
        batch.name = asked.custom_run_name.map(|name| name.trim().to_owned());
        let result = self.remote.submit(&source, batch);
        Ok(result.into())
    }
}

/// What is sent to the test-management system.
#[derive(Default)]
struct Batch {
    runs: Vec<String>,
    suites: BTreeSet<u32>,
    cases: u32,
    skipped: Vec<u64>,
    warnings: Vec<ExportWarning>,
    name: Option<String>,
}

impl Batch {
    fn of(runs: &[(&Job, Attempt)]) -> Self {
        let mut batch = Self::default();
        for (job, run) in runs {
            batch.add(job, run);
        }
        batch
    }

    fn add(&mut self, job: &Job, run: &Attempt) {
        self.runs.push(run.id.clone());
        if job.test.cases.is_empty() {
            self.warn("no_case_mapping", "The test is not linked to any case.", job, run, None);
        }
        for link in &job.test.cases {
            if link.exists {
                self.suites.insert(link.suite);
                self.cases += 1;
            } else {
                self.skipped.push(link.case);
                let details = format!("case {}", link.case);
                self.warn(
                    "case_not_found",
                    "A linked case does not exist any more.",
                    job,
                    run,
                    Some(details),
                );
            }
        }
    }

    fn warn(&mut self, kind: &str, message: &str, job: &Job, run: &Attempt, details: Option<String>) {
        self.warnings.push(ExportWarning {
            r#type: kind.to_owned(),
            message: message.to_owned(),
            run_id: Some(run.id.clone()),
            test_version_id: Some(format!("{}-v{}", job.test.id, job.test.version)),
            details,
        });
    }
}

impl Remote {
    fn submit(&mut self, source: &Source, batch: Batch) -> ExportResult {
        let several = batch.suites.len() > 1;
        let empty = batch.cases == 0;
        let mut result = ExportResult {
            success: !empty,
            export_type: source.name().to_owned(),
            export_trigger: "manual".to_owned(),
            export_strategy: if several { "multi_suite_plan" } else { "single_suite" }.to_owned(),
            runs_processed: batch.runs,
            total_test_cases: f64::from(batch.cases),
            already_exported: matches!(source, Source::Execution(_)).then_some(false),
            tmsys_run_id: None,
            tmsys_run_url: None,
            tmsys_run_name: None,
            tmsys_plan_id: None,
            tmsys_plan_url: None,
            tmsys_plan_name: None,
            export_duration_ms: Some(f64::from(EXPORT_MS)),
            skipped_cases: Some(batch.skipped),
            warnings: Some(batch.warnings),
            error: empty.then(|| "no results with linked cases to export".to_owned()),
            error_code: empty.then(|| "NO_CASE_MAPPINGS".to_owned()),
        };
        if !empty {
            self.create(&mut result, several, batch.name);
            if let Source::Execution(execution) = source {
                self.exported.insert(execution.clone(), result.clone());
            }
        }
        result
    }

    /// Creates the remote run, or the plan over several suites.
    fn create(&mut self, result: &mut ExportResult, several: bool, name: Option<String>) {
        let (next, kind) = if several { (&mut self.next_plan, "plan") } else { (&mut self.next_run, "run") };
        let id = *next;
        *next += 1;
        let name = name.unwrap_or_else(|| format!("Automated {kind} {id}"));
        let url = format!("https://tmsys.example/{kind}s/{id}");
        if several {
            (result.tmsys_plan_id, result.tmsys_plan_url, result.tmsys_plan_name) =
                (Some(id), Some(url), Some(name));
        } else {
            (result.tmsys_run_id, result.tmsys_run_url, result.tmsys_run_name) =
                (Some(id), Some(url), Some(name));
        }
    }
}

/// The answer for an export that exists already: its ids and links, and nothing submitted.
fn again(earlier: &ExportResult) -> ExportResult {
    ExportResult {
        already_exported: Some(true),
        runs_processed: Vec::new(),
        total_test_cases: 0.0,
        skipped_cases: Some(Vec::new()),
        warnings: Some(Vec::new()),
        export_duration_ms: None,
        ..earlier.clone()
    }
}
