//! The test-management system that receives the exports.

use std::collections::{BTreeMap, BTreeSet};

use crate::{sandbox::model::export_batch::ExportBatch, service::api::exports::ExportResult};

/// Duration of an export, in milliseconds.
const EXPORT_MS: u32 = 1_840;

/// The test-management system, which remembers what was exported to it.
#[derive(Debug)]
pub(crate) struct TestManagementSystem {
    next_run: u64,
    next_plan: u64,
    /// The latest export of each execution.
    exported: BTreeMap<String, ExportResult>,
    in_progress: BTreeSet<String>,
}

impl Default for TestManagementSystem {
    fn default() -> Self {
        Self { next_run: 812, next_plan: 77, exported: BTreeMap::new(), in_progress: BTreeSet::new() }
    }
}

impl TestManagementSystem {
    /// Sets whether an export of an execution is in progress.
    pub(crate) fn mark_in_progress(&mut self, execution: &str, in_progress: bool) {
        if in_progress {
            self.in_progress.insert(execution.to_owned());
        } else {
            self.in_progress.remove(execution);
        }
    }

    /// Returns whether an export of an execution is in progress.
    pub(crate) fn is_busy_with(&self, execution: &str) -> bool {
        self.in_progress.contains(execution)
    }

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
            tmsys_run_id: None,
            tmsys_run_url: None,
            tmsys_run_name: None,
            tmsys_plan_id: None,
            tmsys_plan_url: None,
            tmsys_plan_name: None,
            export_duration_ms: Some(EXPORT_MS),
            skipped_cases: Some(batch.skipped),
            warnings: Some(batch.warnings),
            error: empty.then(|| "no results with linked cases to export".to_owned()),
            error_code: empty.then(|| "NO_CASE_MAPPINGS".to_owned()),
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

        if several {
            (result.tmsys_plan_id, result.tmsys_plan_url, result.tmsys_plan_name) =
                (Some(id), Some(url), Some(name));
        } else {
            (result.tmsys_run_id, result.tmsys_run_url, result.tmsys_run_name) =
                (Some(id), Some(url), Some(name));
        }
    }
}
