//! The results that an export sends to the test-management system.

use std::collections::BTreeSet;

use crate::{
    sandbox::model::{attempt::RunAttempt, job::SimulatedJob},
    service::api::exports::ExportWarning,
};

/// The results that an export sends.
#[derive(Default)]
pub(crate) struct ExportBatch {
    /// The `export_type` of the result.
    pub(crate) kind: &'static str,
    /// The exported execution, if an execution is exported.
    pub(crate) execution: Option<String>,
    /// Name of the created run or plan. A name is generated if it is absent.
    pub(crate) name: Option<String>,
    pub(crate) runs: Vec<String>,
    pub(super) suites: BTreeSet<u32>,
    pub(crate) cases: u32,
    pub(crate) skipped: Vec<u64>,
    pub(super) warnings: Vec<ExportWarning>,
}

impl ExportBatch {
    /// Creates a batch without results.
    pub(crate) fn new(kind: &'static str, execution: Option<String>, name: Option<String>) -> Self {
        Self { kind, execution, name, ..Self::default() }
    }

    pub(crate) fn add(&mut self, job: &SimulatedJob, run: &RunAttempt) {
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

    fn warn(
        &mut self,
        kind: &str,
        message: &str,
        job: &SimulatedJob,
        run: &RunAttempt,
        details: Option<String>,
    ) {
        self.warnings.push(ExportWarning {
            r#type: kind.to_owned(),
            message: message.to_owned(),
            run_id: Some(run.id.clone()),
            test_version_id: Some(format!("{}-v{}", job.test.id, job.test.version)),
            details,
        });
    }
}
