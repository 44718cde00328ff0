//! The subject of a report: the run, job or execution with a given id.

use serde_json::{Value, json};

use crate::{
    call::{
        common_arguments::{CommonArguments, ToolArguments},
        gateway::Gateway,
    },
    failure::{Code, Failure},
    service::result_kind::{ResultId, ResultKind},
    tools::{caller::CallerContext, dispatcher::Dispatcher, project_client::ProjectClient, summary::Summary},
};

/// The kinds that an id may have, in the order in which the service is asked.
const LOOKUP_ORDER: [ResultKind; 3] = [ResultKind::Run, ResultKind::Execution, ResultKind::Job];

/// The run, job or execution of a report.
#[derive(Clone, Debug)]
pub struct ReportSubject {
    pub(super) target: ResultId,
    pub(super) record: Value,
    pub(super) compare_with: Option<String>,
}

impl ReportSubject {
    /// Finds the record with the id `id`, whatever its kind.
    ///
    /// # Errors
    /// `not_found` if no record has the id, or the failure of a look-up.
    pub async fn find(gateway: &Gateway, project: Option<&str>, id: &str) -> Result<Self, Failure> {
        let client = ProjectClient { gateway: gateway.clone(), project: project.map(str::to_owned) };
        let mut refusals = Vec::new();

        for kind in LOOKUP_ORDER {
            let target = ResultId::new(kind, id);
            match client.read_result(&target).await {
                Ok(reply) => return Ok(Self { target, record: reply.into_value(), compare_with: None }),
                Err(failure) if is_other_kind(&failure) => refusals.push(failure),
                Err(failure) => return Err(failure),
            }
        }

        Err(unknown_id(id, &refusals))
    }

    /// Reads the record with the id `target`.
    ///
    /// # Errors
    /// The failure of the operation that reads the record.
    pub async fn read(gateway: &Gateway, project: Option<&str>, target: ResultId) -> Result<Self, Failure> {
        let client = ProjectClient { gateway: gateway.clone(), project: project.map(str::to_owned) };
        let record = client.read_result(&target).await?.into_value();

        Ok(Self { target, record, compare_with: None })
    }

    /// Returns the id of the record, and its kind.
    pub fn into_id(self) -> ResultId {
        self.target
    }

    /// Returns the id of the job that the record belongs to.
    pub fn job_id(&self) -> Option<String> {
        Some(self.record.get(ResultKind::Job.id_field())?.as_str()?.to_owned())
    }

    /// Returns the subject with the earlier result to compare it with.
    #[must_use]
    pub fn compared_with(self, earlier: Option<&str>) -> Self {
        Self { compare_with: earlier.map(str::to_owned), ..self }
    }

    /// Summarizes the subject with the tool `summarize_results`, which checks the id to compare with.
    ///
    /// # Errors
    /// Failures of the tool.
    pub async fn summarize(
        &self,
        dispatcher: &Dispatcher,
        project: Option<&str>,
    ) -> Result<Summary, Failure> {
        let mut arguments = self.target.to_arguments();
        if let Some(earlier) = &self.compare_with {
            arguments.insert("compare_with".to_owned(), json!(earlier));
        }

        let arguments = ToolArguments::new(arguments, CommonArguments::in_project(project));
        dispatcher.summarize_results(arguments, CallerContext::silent()).await
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
        None => Failure::new(Code::NotFound, message).hint("`list_runs` lists runs"),
    }
}
