//! The run, job or execution that has an id, whatever its kind.

use serde_json::Value;

use crate::{
    call::Caller,
    failure::{Code, Failure},
    service::{
        api::{jobs::Job, runs::Run},
        lenient::view,
        result_kind::{ResultId, ResultKind},
    },
    tools::reader::Reader,
};

/// The kinds that an id may have, in the order in which the service is asked.
const LOOKUP_ORDER: [ResultKind; 3] = [ResultKind::Run, ResultKind::Execution, ResultKind::Job];

/// The record of a run, a job or an execution, as the service returned it.
#[derive(Clone, Debug)]
pub struct FoundResult {
    /// The id of the record.
    pub id: ResultId,
    /// The record.
    pub record: Value,
}

impl FoundResult {
    /// Finds the record with the id `id`, whatever its kind.
    ///
    /// # Errors
    /// `not_found` if no record has the id, or the failure of a look-up.
    pub async fn find(caller: &Caller, project: Option<&str>, id: &str) -> Result<Self, Failure> {
        Self::find_by(&Reader::new(caller, project), id).await
    }

    pub(super) async fn find_by(reader: &Reader, id: &str) -> Result<Self, Failure> {
        let mut refusals = Vec::new();
        for kind in LOOKUP_ORDER {
            match Self::read_by(reader, ResultId::new(kind, id)).await {
                Err(failure) if is_other_kind(&failure) => refusals.push(failure),
                read => return read,
            }
        }

        Err(unknown_id(id, &refusals))
    }

    /// Reads the record with the id `id`.
    ///
    /// # Errors
    /// The failure of the operation that reads the record.
    pub async fn read(caller: &Caller, project: Option<&str>, id: ResultId) -> Result<Self, Failure> {
        Self::read_by(&Reader::new(caller, project), id).await
    }

    pub(super) async fn read_by(reader: &Reader, id: ResultId) -> Result<Self, Failure> {
        let record = reader.read_result(&id).await?;
        Ok(Self { id, record })
    }

    /// Returns the id of the job that the record belongs to.
    pub fn job_id(&self) -> Option<String> {
        let id = match self.id.kind {
            ResultKind::Run => view::<Run>(&self.record).head.job_id,
            ResultKind::Job => view::<Job>(&self.record).job_id,
            ResultKind::Execution => return None,
        };
        Some(id).filter(|id| !id.is_empty())
    }
}

/// Returns whether a failed look-up means that the id may be of another kind. Ids of runs have another form than the
/// other ids, so that the arguments may be invalid.
pub(super) fn is_other_kind(failure: &Failure) -> bool {
    matches!(failure.code, Code::NotFound | Code::ProjectNotResolved | Code::InvalidArguments)
}

/// Returns the failure for an id that no record has. The message contains the refusal that explains most: the projects
/// that were searched, or why the id is invalid for every kind.
fn unknown_id(id: &str, refusals: &[Failure]) -> Failure {
    let message = format!("no run, job or plan execution has the id `{id}`");
    let all_invalid = refusals.iter().all(|refusal| refusal.code == Code::InvalidArguments);
    let explains = |refusal: &&Failure| all_invalid || refusal.code == Code::ProjectNotResolved;

    match refusals.iter().find(explains).cloned() {
        Some(refusal) => Failure { message: format!("{message}: {refusal}"), ..refusal },
        None => Failure::new(Code::NotFound, message).hint("`tool:list_runs` lists runs"),
    }
}
