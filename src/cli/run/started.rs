//! What the answer of a start says of itself: what to wait for, and what was not started (supplement 2.1).

use indexmap::IndexSet;
use serde_json::Value;

use crate::{
    failure::{Code, Failure},
    service::result_kind::{ResultId, ResultKind},
    tools::waiting::{WaitTarget, item::text},
};

/// Why a run was not started that no row of the answer stands for.
const UNTOLD: &str = "the service does not say why";

/// Most runs that are shown without a row of the answer: a count can be anything.
const MOST_UNTOLD: usize = 1_000;

/// The answer of a start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Started<'a>(pub(super) &'a Value);

impl<'a> Started<'a> {
    /// What to wait for, the execution of a plan, else the jobs; and all jobs that were named.
    pub(super) fn target(self) -> Result<(WaitTarget, Vec<String>), Failure> {
        let execution = self.holders().find_map(|holder| text(holder, "test_plan_execution_id"));
        let jobs = self.jobs();

        match execution {
            Some(execution) => {
                Ok((WaitTarget::Single(ResultId::new(ResultKind::Execution, execution)), jobs))
            }
            None if jobs.is_empty() => Err(Failure::new(Code::BadResponse, "the start names no job")),
            None => Ok((WaitTarget::Jobs(jobs), Vec::new())),
        }
    }

    /// The jobs, wherever the answer names them.
    fn jobs(self) -> Vec<String> {
        let holders = self.holders().chain(self.devices().filter_map(|row| row.get("data")));
        let ids = holders.filter_map(|holder| holder.get("job_ids")?.as_array()).flatten();
        let ids: IndexSet<_> = ids.filter_map(|id| id.as_str().map(str::to_owned)).collect();
        ids.into_iter().collect()
    }

    /// Devices on which nothing was started, and why. What only the counts tell has no device.
    pub(super) fn not_started(self) -> Vec<(String, String)> {
        let told = |row: &Value| {
            let why = text(row, "message").or_else(|| text(row, "error"));
            (text(row, "device_label").unwrap_or_default(), why.unwrap_or_else(|| UNTOLD.to_owned()))
        };
        let mut all: Vec<_> = self.devices().filter(|row| is_refused(row)).map(told).collect();
        let is_refused = self.holders().any(is_refused);
        let missing = self.missing().max(usize::from(is_refused));
        let why = self.holders().find_map(|holder| text(holder, "error"));
        let rest = (String::new(), why.unwrap_or_else(|| UNTOLD.to_owned()));

        all.resize(missing.min(MOST_UNTOLD).max(all.len()), rest);

        all
    }

    /// How many runs were asked for and not started, as the counts have it.
    fn missing(self) -> usize {
        let count = |name: &str| self.holders().find_map(|holder| holder.get(name)?.as_u64());
        let started = count("started_count").or_else(|| count("successful_count"));
        let difference =
            count("requested_count").zip(started).map(|(asked, started)| asked.saturating_sub(started));
        usize::try_from(count("failed_count").max(difference).unwrap_or_default()).unwrap_or(usize::MAX)
    }

    /// The answer, and its `data` where an older form has everything there (supplement 1.7).
    fn holders(self) -> impl Iterator<Item = &'a Value> {
        [Some(self.0), self.0.get("data")].into_iter().flatten()
    }

    /// The rows of a start on several devices.
    fn devices(self) -> impl Iterator<Item = &'a Value> {
        let rows = |holder: &'a Value| {
            let rows = |name: &str| holder.get(name).and_then(Value::as_array);
            [rows("results"), rows("device_runs")].into_iter().flatten().flatten()
        };
        self.holders().flat_map(rows)
    }
}

/// Whether an answer or a row of it says that it is no success.
fn is_refused(told: &Value) -> bool {
    told.get("ok") == Some(&Value::Bool(false))
}
