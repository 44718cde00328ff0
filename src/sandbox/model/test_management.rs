//! The test-management system, and the results that an export sends to it.

use std::collections::{BTreeMap, BTreeSet};

use crate::sandbox::model::job::RunAttempt;
use crate::sandbox::model::job::SimulatedJob;
use crate::service::api::exports::{ExportResult, ExportWarning};

const EXPORT_MS: u32 = 1_840;

/// The test-management system, which remembers what was exported to it.
#[derive(Debug)]
pub(crate) struct TestManagementSystem {
    next_run: u64,
    next_plan: u64,
    /// The latest export of each execution.
    exported: BTreeMap<String, ExportResult>,
}

impl Default for TestManagementSystem {
    fn default() -> Self {
        Self { next_run: 812, next_plan: 77, exported: BTreeMap::new() }
    }
}

impl TestManagementSystem {
    /// Returns the latest export of an execution with its ids and links, but without results, because none are
    /// submitted.
    pub(crate) fn latest_export(&self, execution: &str) -> Option<ExportResult> {
        let earlier = self.exported.get(execution)?;
        Some(ExportResult {
            already_exported: Some(true),
            runs_processed: Vec::new(),
            total_test_cases: 0,
            skipped_cases: Some(Vec::new()),
            warnings: Some(Vec::new()),
            export_duration_ms: None,
            ..earlier.clone()
        })
    }

    /// Accepts the results of a batch. A batch without results creates nothing and does not succeed.
    pub(crate) fn submit(&mut self, batch: ExportBatch) -> ExportResult {
        let several = batch.suites.len() > 1;
        let empty = batch.cases == 0;
        let mut result = ExportResult {
            success: !empty,
            export_type: batch.kind.to_owned(),
            export_trigger: "manual".to_owned(),
            export_strategy: if several { "multi_suite_plan" } else { "single_suite" }.to_owned(),
            runs_processed: batch.runs,
            total_test_cases: batch.cases,
            already_exported: batch.execution.is_some().then_some(false),
            export_duration_ms: Some(EXPORT_MS),
            skipped_cases: Some(batch.skipped),
            warnings: Some(batch.warnings),
            error: empty.then(|| "no results with linked cases to export".to_owned()),
            error_code: empty.then(|| "NO_CASE_MAPPINGS".to_owned()),
            ..ExportResult::default()
        };

        if !empty {
            self.create(&mut result, several, batch.name);
            if let Some(execution) = batch.execution {
                self.exported.insert(execution, result.clone());
            }
        }

        result
    }

    /// Creates a run, or a plan if the results belong to several suites.
    fn create(&mut self, result: &mut ExportResult, several: bool, name: Option<String>) {
        let (next, kind) = if several { (&mut self.next_plan, "plan") } else { (&mut self.next_run, "run") };
        let id = *next;
        *next += 1;

        let name = name.unwrap_or_else(|| format!("Automated {kind} {id}"));
        let url = format!("https://tmsys.example/{kind}s/{id}");
        let created = (Some(id), Some(url), Some(name));

        if several {
            (result.tmsys_plan_id, result.tmsys_plan_url, result.tmsys_plan_name) = created;
        } else {
            (result.tmsys_run_id, result.tmsys_run_url, result.tmsys_run_name) = created;
        }
    }
}

/// The results that an export sends.
#[derive(Default)]
pub(crate) struct ExportBatch {
    /// The `export_type` of the result.
    kind: &'static str,
    /// The exported execution, if an execution is exported.
    pub(crate) execution: Option<String>,
    /// Name of the created run or plan. A name is generated if it is absent.
    name: Option<String>,
    runs: Vec<String>,
    suites: BTreeSet<u32>,
    cases: u32,
    skipped: Vec<u64>,
    warnings: Vec<ExportWarning>,
}

impl ExportBatch {
    pub(crate) fn new(kind: &'static str, execution: Option<String>, name: Option<String>) -> Self {
        Self { kind, execution, name, ..Self::default() }
    }

    pub(crate) fn add(&mut self, job: &SimulatedJob, run: &RunAttempt) {
        self.runs.push(run.id.clone());
        let warning = |kind: &str, message: &str, details| ExportWarning {
            r#type: kind.to_owned(),
            message: message.to_owned(),
            run_id: Some(run.id.clone()),
            test_version_id: Some(format!("{}-v{}", job.test.id, job.test.version)),
            details,
        };

        if job.test.cases.is_empty() {
            self.warnings.push(warning("no_case_mapping", "The test is not linked to any case.", None));
        }

        for link in &job.test.cases {
            if link.deleted {
                let (message, case) =
                    ("A linked case does not exist any more.", format!("case {}", link.case));
                self.skipped.push(link.case);
                self.warnings.push(warning("case_not_found", message, Some(case)));
            } else {
                self.suites.insert(link.suite);
                self.cases += 1;
            }
        }
    }
}
