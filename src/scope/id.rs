//! Ids that identify their project.

use serde_json::Value;

use crate::{
    api::{executions::GetTestPlanExecution, jobs::GetJob, runs::GetRun},
    catalog::{self, Entry},
    operation::{Fields, Operation},
};

/// Fields that hold such ids, in arguments and in answers, whatever the operation.
const OWNED: [(&str, Kind); 6] = [
    ("run_id", Kind::Run),
    ("multiplayer_run_id", Kind::Run),
    ("multiplayer_run_ids", Kind::Run),
    ("job_id", Kind::Job),
    ("job_ids", Kind::Job),
    ("test_plan_execution_id", Kind::Execution),
];

/// What an id is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A run.
    Run,
    /// A job.
    Job,
    /// An execution of a test plan.
    Execution,
}

impl Kind {
    /// What people call it.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Job => "job",
            Self::Execution => "plan execution",
        }
    }

    /// The operation that reads the record.
    pub(super) fn reader(self) -> Option<&'static Entry> {
        catalog::find(match self {
            Self::Run => GetRun::NAME,
            Self::Job => GetJob::NAME,
            Self::Execution => GetTestPlanExecution::NAME,
        })
    }
}

/// An id that identifies its project.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OwnedId {
    /// What it is of.
    pub kind: Kind,
    /// The id.
    pub id: String,
}

/// The ids in arguments or at the top of an answer, each once.
pub fn owned_ids(fields: &Fields) -> Vec<OwnedId> {
    let mut ids = Vec::new();
    for (name, kind) in OWNED {
        let values = match fields.get(name) {
            Some(Value::Array(values)) => values.as_slice(),
            Some(value) => std::slice::from_ref(value),
            None => &[],
        };
        for id in values.iter().filter_map(Value::as_str) {
            let owned = OwnedId { kind, id: id.to_owned() };
            if !ids.contains(&owned) {
                ids.push(owned);
            }
        }
    }
    ids
}
