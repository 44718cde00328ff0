//! The project that a call goes to.
//!
//! In project scope every call goes to the configured project. In global scope the ids of runs, jobs and plan
//! executions decide the project. Their owner is looked up only if key and arguments leave a choice.

mod owners;

use std::sync::Arc;

use indexmap::IndexSet;
use serde_json::Value;

use self::owners::{OwnerLookup, OwnerMemory};
use super::{ids::owned_ids, sender::RequestSender};
use crate::{
    client::KeyKind,
    failure::{Code, Failure},
    fields::Fields,
    service::{catalog::OperationEntry, operation::UrlBase, record_kind::ResultId},
};

/// What a user does whose call is not covered.
pub(crate) const ASK_OPERATOR: &str =
    "nothing was sent: the person can ask the operator of this MCP server for the permission";

/// What a host does before it goes to another project than the user asked for.
const ASK_ABOUT_PROJECT: &str = "ask the user before another project is used";

/// The project of a server, or of each call.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    /// The project of project scope; `None` for global scope.
    project: Option<String>,
    /// Projects in which an organization key looks for ids.
    configured_projects: Vec<String>,
    /// The only projects that calls may go to; `None` for all.
    allowed_projects: Option<Arc<[String]>>,
    memory: Arc<OwnerMemory>,
}

impl Scope {
    /// Creates project scope if there is a `project`, otherwise global scope.
    pub(super) fn new(project: Option<String>, configured_projects: Vec<String>) -> Self {
        Self { project, configured_projects, allowed_projects: None, memory: Arc::default() }
    }

    /// Returns the same scope for another key, with an empty memory. Calls go to `allowed` only; `None` is every project.
    pub(super) fn for_other_key(&self, allowed: Option<Arc<[String]>>) -> Self {
        Self { allowed_projects: allowed, memory: Arc::default(), ..self.clone() }
    }

    /// Returns the scope of `project` that shares the memory of this scope.
    pub(super) fn with_project(&self, project: Option<String>) -> Self {
        Self { project, ..self.clone() }
    }

    /// Returns the project that all calls go to; `None` if each call decides.
    pub(super) fn project(&self) -> Option<&str> {
        match (&self.project, self.allowed_projects.as_deref()) {
            (Some(project), _) | (None, Some([project])) => Some(project),
            _ => None,
        }
    }

    /// Returns the project that a call of `entry` goes to; `None` is the route without a project, where the key or the ids
    /// decide. `ids` are the ids in its arguments.
    ///
    /// # Errors
    /// `project_scope_mismatch`, `project_not_resolved`, `project_required`, or the failure of a look-up.
    pub(super) async fn resolve(
        &self,
        sender: &RequestSender<'_>,
        entry: &OperationEntry,
        requested: Option<&str>,
        ids: &[ResultId],
    ) -> Result<Option<String>, Failure> {
        let goes_to_project = goes_to_project(entry);
        let lookup = OwnerLookup {
            is_write: !entry.effect.is_read_only(),
            decided_by_service: goes_to_project.then_some(entry),
            ..self.lookup(sender)
        };

        Ok(match (self.project(), sender.key.kind(), requested) {
            (Some(project), _, Some(requested)) if requested != project => {
                let is_owner = self.lookup(sender).confirm(project, ids, &[]).await.is_ok();
                return Err(other_project_refused(requested, project, ids, is_owner));
            }
            (Some(project), kind, _) => {
                // The path of such a request does not keep an organization key inside the project.
                if kind == KeyKind::Organization && !goes_to_project {
                    lookup.confirm(project, ids, &[]).await?;
                }
                Some(project.to_owned())
            }
            (None, _, None) if self.allowed_projects.is_some() => {
                return self.resolve_among_allowed(lookup, entry, ids).await;
            }
            // The route has no project, and the caller names none that has to be checked.
            (None, _, None) if !goes_to_project => None,
            (None, KeyKind::Project, None) if needs_project(entry) => Some(lookup.project_of_key().await?),
            // The key identifies the project at the service.
            (None, KeyKind::Project, None) => None,
            (None, KeyKind::Project, Some(requested)) => {
                lookup.confirm(requested, ids, &[None]).await?;
                Some(requested.to_owned())
            }
            (None, KeyKind::Organization, Some(requested)) => {
                let others = self.candidates().into_iter().filter(|project| project != requested);
                let others: Vec<_> = others.map(Some).collect();
                lookup.confirm(requested, ids, &others).await?;
                Some(requested.to_owned())
            }
            (None, KeyKind::Organization, None) if ids.is_empty() => Some(self.project_without_ids()?),
            (None, KeyKind::Organization, None) => Some(lookup.common_owner(ids, &self.candidates()).await?),
        })
    }

    /// Does the same if calls may go to some projects only, and the caller names none.
    async fn resolve_among_allowed(
        &self,
        lookup: OwnerLookup<'_>,
        entry: &OperationEntry,
        ids: &[ResultId],
    ) -> Result<Option<String>, Failure> {
        let allowed = self.candidates();
        if !ids.is_empty() {
            return lookup.common_owner(ids, &allowed).await.map(Some);
        }
        if !goes_to_project(entry) {
            return Ok(None);
        }
        if lookup.sender.key.kind() == KeyKind::Organization {
            return Err(project_required(&allowed));
        }

        let project = lookup.project_of_key().await?;
        if allowed.contains(&project) {
            return Ok(Some(project));
        }

        let message = format!("no grant of the person covers project `{project}`");
        Err(Failure::new(Code::PermissionDenied, message).hint(ASK_OPERATOR))
    }

    pub(super) fn includes(&self, project: &str) -> bool {
        let allowed = self.allowed_projects.as_ref();
        allowed.is_none_or(|projects| projects.iter().any(|allowed| allowed == project))
    }

    /// Returns whether the key reaches the project of a call, or the records of its `ids` if nothing names the project.
    pub(super) async fn is_reached(
        &self,
        sender: &RequestSender<'_>,
        requested: Option<&str>,
        ids: &[ResultId],
    ) -> Result<bool, Failure> {
        let (lookup, is_organization) = (self.lookup(sender), sender.key.kind() == KeyKind::Organization);
        let reached = match (self.project.as_deref().or(requested), &self.allowed_projects) {
            (Some(project), Some(_)) => Ok(self.includes(project)),
            // An organization key can be one of every project.
            (Some(_), None) if is_organization => Ok(true),
            (Some(project), None) => lookup.project_of_key().await.map(|own| own == project),
            (None, _) if ids.is_empty() => Ok(true),
            (None, None) if !is_organization => lookup.confirm_readable(ids).await.map(|()| true),
            (None, _) => lookup.common_owner(ids, &self.candidates()).await.map(|_| true),
        };

        match reached {
            // No record shows that the project of the key is another one.
            Err(failure) if failure.code == Code::ProjectRequired => Ok(true),
            Err(failure) if matches!(failure.code, Code::ProjectNotResolved | Code::PermissionDenied) => {
                Ok(false)
            }
            reached => reached,
        }
    }

    fn lookup<'a>(&'a self, sender: &'a RequestSender<'a>) -> OwnerLookup<'a> {
        OwnerLookup { memory: &self.memory, sender, is_write: false, decided_by_service: None }
    }

    /// Remembers that the service has answered with these ids or about them, and that `project` owns them if it is known.
    pub(crate) fn remember(&self, project: Option<&str>, ids: impl IntoIterator<Item = ResultId>) {
        // In project scope nothing shows that the project owns what a call names.
        self.memory.remember(project.filter(|_| self.project().is_none()), ids);
    }

    /// Returns whether the service has answered with this id, or about it, since the caller was created.
    pub(crate) fn has_seen(&self, id: &ResultId) -> bool {
        self.memory.has_seen(id)
    }

    /// Returns the known projects that calls may go to.
    pub(crate) fn known_projects(&self) -> Vec<String> {
        self.project().map_or_else(|| self.candidates(), |project| vec![project.to_owned()])
    }

    /// Returns the project of a call with an organization key and without ids. What was read before does not decide it.
    fn project_without_ids(&self) -> Result<String, Failure> {
        match self.configured_projects.as_slice() {
            [only] => Ok(only.clone()),
            configured => Err(project_required(configured)),
        }
    }

    /// Returns the projects that may own an id, the most likely ones first.
    fn candidates(&self) -> Vec<String> {
        if let Some(allowed) = &self.allowed_projects {
            return allowed.to_vec();
        }

        let projects = self.memory.projects().into_iter().chain(self.configured_projects.iter().cloned());
        projects.collect::<IndexSet<_>>().into_iter().collect()
    }
}

fn goes_to_project(entry: &OperationEntry) -> bool {
    matches!(entry.request.url_base, UrlBase::Project | UrlBase::NamedProject)
        || entry.request.names_project()
}

/// Returns whether requests of the operation have to name a project, whatever the key is.
fn needs_project(entry: &OperationEntry) -> bool {
    entry.request.url_base == UrlBase::NamedProject || entry.request.names_project()
}

pub(super) fn ids_of_call(entry: &OperationEntry, arguments: &Fields) -> Vec<ResultId> {
    // The operations of the knowledge host take the ids of players, which contain the id of the run.
    let are_players = entry.request.url_base == UrlBase::Knowledge;
    let ids = owned_ids(arguments).into_iter();
    ids.map(|id| if are_players { id.without_player() } else { id }).collect()
}

/// Refuses a call for another project than that of the server, `bound`. `is_owner` says whether the service has shown that
/// `bound` owns the ids of the call. Who else owns them is not asked: the server keeps to its project.
fn other_project_refused(requested: &str, bound: &str, ids: &[ResultId], is_owner: bool) -> Failure {
    let id = ids.first().filter(|_| is_owner);
    let owned = id.map(|id| format!("{} `{}` belongs to it; ", id.kind.noun(), id.id)).unwrap_or_default();
    let message = format!(
        "this server is bound to project `{bound}`, not to `{requested}`; {owned}nothing was changed"
    );
    let refusal = scope_mismatch(requested, bound, message)
        .hint(format!(
            "{ASK_ABOUT_PROJECT}: it needs a server of its own; for `{bound}`, leave `argument:project_id` out"
        ))
        .detail("id", id.map(|id| id.id.as_str()));

    if ids.is_empty() || is_owner { refusal } else { refusal.detail("owning_project", Value::Null) }
}

fn scope_mismatch(requested: &str, owner: &str, message: String) -> Failure {
    Failure::new(Code::ProjectScopeMismatch, message)
        .status(409)
        .detail("requested_project", requested)
        .owning_project(owner)
}

fn project_required(known: &[String]) -> Failure {
    let hint = if known.is_empty() {
        "pass `argument:project_id`; TAS_PROJECTS can list the projects of an organization key".to_owned()
    } else {
        format!("pass `argument:project_id`: {}", known.join(", "))
    };
    let message = "nothing in this call identifies a project, and no project key does";
    Failure::new(Code::ProjectRequired, message).hint(hint).detail("known_projects", known)
}
