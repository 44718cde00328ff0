//! Ids that identify their project.

use indexmap::IndexSet;
use serde_json::Value;

use crate::{
    fields::Fields,
    service::{
        api::{executions::GetTestPlanExecution, jobs::GetJob, runs::GetRun},
        catalog::{self, OperationEntry},
        operation::Operation,
        request::check_segment,
    },
    violation::Violation,
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
    pub(super) fn reader(self) -> Option<&'static OperationEntry> {
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

impl OwnedId {
    /// The run of a player's id, `<run>-<player>` (supplement 1.8); any other id as it is.
    #[must_use]
    pub fn of_run(mut self) -> Self {
        if let Some((run, _)) = self.id.rsplit_once('-').filter(|_| self.kind == Kind::Run) {
            self.id = run.to_owned();
        }
        self
    }
}

/// The ids in arguments or at the top of an answer, each once.
pub fn owned_ids(fields: &Fields) -> IndexSet<OwnedId> {
    let texts = OWNED.iter().flat_map(|(name, kind)| texts(fields, name).map(|(_, id)| (*kind, id)));
    texts.map(|(kind, id)| OwnedId { kind, id: id.to_owned() }).collect()
}

/// The ids that cannot be looked up, wherever the operation itself would send them.
pub fn broken_ids(fields: &Fields) -> Vec<Violation> {
    let texts = OWNED.iter().flat_map(|(name, _)| texts(fields, name));
    let broken = |(path, id): (String, &str)| Some(Violation::new(path, check_segment(id).err()?));
    texts.filter_map(broken).collect()
}

/// The texts of a field that holds one or several, each with its path.
fn texts<'a>(fields: &'a Fields, name: &'a str) -> impl Iterator<Item = (String, &'a str)> {
    let (one, several) = match fields.get(name) {
        Some(Value::Array(several)) => (None, several.as_slice()),
        one => (one, &[][..]),
    };
    let numbered = several.iter().enumerate().map(move |(index, value)| (format!("{name}.{index}"), value));
    let all = one.map(|value| (name.to_owned(), value)).into_iter().chain(numbered);

    all.filter_map(|(path, value)| Some((path, value.as_str()?)))
}
