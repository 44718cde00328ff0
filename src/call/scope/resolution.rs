//! The choice of the project that a call goes to.

use std::sync::Arc;

use super::{
    errors::{other_project_refused, project_not_allowed, project_required, with_nothing_changed},
    lookup::{OwnerLookup, OwnerRecord},
    session::Session,
};
use crate::{
    call::{context::CallContext, operation_request::OperationRequest},
    client::{HttpResponse, KeyKind},
    failure::{Code, Failure},
    service::{catalog::OperationEntry, operation::UrlBase, result_kind::ResultId},
};

/// The project of a server, or of each call.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The project of project scope; `None` for global scope.
    project: Option<String>,
    /// Projects in which an organization key looks for ids.
    configured_projects: Vec<String>,
    /// The only projects that calls may go to; `None` for all.
    allowed_projects: Option<Arc<[String]>>,
    session: Arc<Session>,
}

/// The project of a call.
#[derive(Debug)]
pub struct ResolvedProject {
    /// The project; `None` for the route without a project, where the key or the ids decide.
    pub project: Option<String>,
    /// The record that the owner look-up has read from `project`, if the call has one id.
    record: Option<Box<OwnerRecord>>,
}

impl ResolvedProject {
    fn without_record(project: Option<String>) -> Self {
        Self { project, record: None }
    }

    /// Returns the answer to `request` if the owner look-up has already sent the same request to this project.
    pub(crate) fn answer_to(&self, request: &OperationRequest) -> Option<HttpResponse> {
        let record = self.record.as_ref().filter(|record| record.request.equals(request))?;
        Some(record.answer.clone())
    }
}

impl Scope {
    /// Creates project scope if there is a `project`, otherwise global scope.
    pub fn new(project: Option<String>, configured_projects: Vec<String>) -> Self {
        Self { project, configured_projects, allowed_projects: None, session: Arc::default() }
    }

    /// Returns the same scope, which remembers nothing yet.
    pub(crate) fn with_new_memory(&self) -> Self {
        Self { session: Arc::default(), ..self.clone() }
    }

    /// Returns the scope of `project` that shares the memory of this scope.
    pub(crate) fn with_project(&self, project: Option<String>) -> Self {
        Self { project, ..self.clone() }
    }

    /// Returns the same scope, in which calls go to these projects only; `None` for all.
    pub(crate) fn restricted_to(self, projects: Option<Arc<[String]>>) -> Self {
        Self { allowed_projects: projects, ..self }
    }

    /// Returns the project of project scope; `None` in global scope.
    pub(crate) fn bound_project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// Returns the project that all calls go to; `None` if each call decides.
    pub(crate) fn project(&self) -> Option<&str> {
        match (&self.project, self.allowed_projects.as_deref()) {
            (Some(project), _) | (None, Some([project])) => Some(project),
            _ => None,
        }
    }

    /// Returns whether the key can be one of `project`: its own project is another one only if a record shows this.
    ///
    /// # Errors
    /// The failure of a look-up.
    pub(crate) async fn has_key_of(&self, context: &CallContext<'_>, project: &str) -> Result<bool, Failure> {
        if context.key.kind() == KeyKind::Organization {
            return Ok(true);
        }

        match self.lookup(context).project_of_key().await {
            Ok(own) => Ok(own == project),
            Err(failure) if failure.code == Code::ProjectRequired => Ok(true),
            Err(failure) => Err(failure),
        }
    }

    /// Returns whether the key can read the records of all `ids` in this scope.
    ///
    /// # Errors
    /// The failure of a look-up.
    pub(crate) async fn has_records(
        &self,
        context: &CallContext<'_>,
        ids: &[ResultId],
    ) -> Result<bool, Failure> {
        let lookup = self.lookup(context);
        let outcome = match (self.project(), context.key.kind()) {
            (Some(project), _) => lookup.confirm_all_inside(project, ids).await,
            (None, KeyKind::Project) if self.allowed_projects.is_none() => lookup.confirm_readable(ids).await,
            (None, _) => lookup.common_owner(None, ids, &self.candidates(None)).await.map(drop),
        };

        match outcome {
            Ok(()) => Ok(true),
            Err(failure) if matches!(failure.code, Code::ProjectNotResolved | Code::PermissionDenied) => {
                Ok(false)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Returns the project that a call of `entry` goes to. `ids` are the ids in its arguments.
    ///
    /// # Errors
    /// `project_scope_mismatch`, `project_not_resolved`, `project_required`, or the failure of a look-up.
    pub async fn resolve(
        &self,
        context: &CallContext<'_>,
        entry: &OperationEntry,
        requested: Option<&str>,
        ids: &[ResultId],
    ) -> Result<ResolvedProject, Failure> {
        let Some(project) = self.project() else {
            // Boxed, because a call in project scope needs no memory for look-ups.
            let resolved = Box::pin(self.resolve_globally(context, entry, requested, ids)).await;
            let is_read_only = entry.effect.is_read_only();
            return resolved
                .map_err(|failure| if is_read_only { failure } else { with_nothing_changed(failure) });
        };

        if let Some(requested) = requested.filter(|requested| *requested != project) {
            return Err(other_project_refused(requested, project));
        }

        // The path of such a request does not keep an organization key inside the project.
        if context.key.kind() == KeyKind::Organization && !goes_to_project(entry) {
            Box::pin(self.lookup(context).confirm_all_inside(project, ids)).await?;
        }

        Ok(ResolvedProject::without_record(Some(project.to_owned())))
    }

    /// Does the same as [`Self::resolve`] in global scope.
    async fn resolve_globally(
        &self,
        context: &CallContext<'_>,
        entry: &OperationEntry,
        requested: Option<&str>,
        ids: &[ResultId],
    ) -> Result<ResolvedProject, Failure> {
        if let (Some(allowed), None) = (&self.allowed_projects, requested) {
            return self.resolve_among(allowed, context, entry, ids).await;
        }

        let lookup = self.lookup(context);
        let (project, record) = match (context.key.kind(), requested) {
            // The route has no project, and the caller names none that has to be checked.
            (_, None) if !goes_to_project(entry) => (None, None),
            (KeyKind::Project, None) if needs_project(entry) => (Some(lookup.project_of_key().await?), None),
            // The key identifies the project at the service.
            (KeyKind::Project, None) => (None, None),
            (KeyKind::Project, Some(requested)) => {
                let record = lookup.confirm_owner(requested, ids).await?;
                (Some(requested.to_owned()), record)
            }
            (KeyKind::Organization, _) if ids.is_empty() => {
                (Some(self.project_without_ids(requested)?), None)
            }
            (KeyKind::Organization, _) => {
                let owner = lookup.common_owner(requested, ids, &self.candidates(requested)).await?;
                (Some(owner.project), owner.record)
            }
        };

        Ok(ResolvedProject { project, record })
    }

    /// Does the same if calls may go to the projects `allowed` only, and the caller names none.
    async fn resolve_among(
        &self,
        allowed: &[String],
        context: &CallContext<'_>,
        entry: &OperationEntry,
        ids: &[ResultId],
    ) -> Result<ResolvedProject, Failure> {
        let lookup = self.lookup(context);
        if !ids.is_empty() {
            let owner = lookup.common_owner(None, ids, allowed).await?;
            return Ok(ResolvedProject { project: Some(owner.project), record: owner.record });
        }
        if !goes_to_project(entry) {
            return Ok(ResolvedProject::without_record(None));
        }
        if context.key.kind() == KeyKind::Organization {
            return Err(project_required(allowed));
        }

        let project = lookup.project_of_key().await?;
        if !allowed.contains(&project) {
            return Err(project_not_allowed(&project));
        }
        Ok(ResolvedProject::without_record(Some(project)))
    }

    fn lookup<'a>(&'a self, context: &'a CallContext<'a>) -> OwnerLookup<'a> {
        OwnerLookup { session: &self.session, context }
    }

    /// Remembers that `project` has answered, and owns these ids.
    pub fn remember_owner(&self, project: &str, ids: impl IntoIterator<Item = ResultId>) {
        // In project scope nothing is looked up.
        if self.project().is_none() {
            self.session.remember_owner(project, ids);
        }
    }

    /// Returns the known projects that calls may go to.
    pub fn known_projects(&self) -> Vec<String> {
        self.project().map_or_else(|| self.candidates(None), |project| vec![project.to_owned()])
    }

    /// Returns the project of a call with an organization key and without ids.
    fn project_without_ids(&self, requested: Option<&str>) -> Result<String, Failure> {
        if let Some(requested) = requested {
            return Ok(requested.to_owned());
        }

        let known = self.candidates(None);
        match known.as_slice() {
            [only] => Ok(only.clone()),
            _ => Err(project_required(&known)),
        }
    }

    /// Returns the projects that may own an id, the most likely ones first.
    fn candidates(&self, requested: Option<&str>) -> Vec<String> {
        let mut candidates: indexmap::IndexSet<String> = requested.map(str::to_owned).into_iter().collect();
        if let Some(allowed) = &self.allowed_projects {
            candidates.extend(allowed.iter().cloned());
        } else {
            candidates.extend(self.session.projects());
            candidates.extend(self.configured_projects.iter().cloned());
        }
        candidates.into_iter().collect()
    }
}

/// Returns whether requests of the operation can name a project.
fn goes_to_project(entry: &OperationEntry) -> bool {
    matches!(entry.request.url_base, UrlBase::Project | UrlBase::NamedProject)
        || entry.request.names_project()
}

/// Returns whether requests of the operation have to name a project, whatever the key is.
fn needs_project(entry: &OperationEntry) -> bool {
    entry.request.url_base == UrlBase::NamedProject || entry.request.names_project()
}
