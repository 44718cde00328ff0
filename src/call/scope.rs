//! Which project a call goes to (`design.md` 4).
//!
//! In project scope it is the configured one. In global scope the ids of runs, jobs and plan executions decide: an
//! owner is looked up where the key or the arguments leave a choice, and never where they do not.

use crate::{
    call::context::CallContext,
    client::KeyKind,
    failure::{Code, Failure},
    service::{catalog::OperationEntry, operation::UrlBase, result_kind::ResultId},
};

mod id;
mod lookup;
mod session;

pub use id::{find_invalid_ids, owned_ids};

use self::session::Session;

/// The project of a server, or of each call.
#[derive(Debug)]
pub struct Scope {
    /// Project scope, if it is that.
    project: Option<String>,
    /// Projects that an organization key may look in.
    listed: Vec<String>,
    session: Session,
}

impl Scope {
    /// Project scope with `project`, else global scope.
    pub fn new(project: Option<String>, listed: Vec<String>) -> Self {
        Self { project, listed, session: Session::default() }
    }

    /// The project that a call of `entry` goes to; `None`: the route without one, whose project follows from the key
    /// or from the ids.
    ///
    /// # Errors
    /// `project_scope_mismatch`, `project_not_resolved`, `project_required`, or what went wrong in a look-up.
    pub async fn resolve(
        &self,
        call: &CallContext<'_>,
        entry: &OperationEntry,
        requested: Option<&str>,
        ids: &[ResultId],
    ) -> Result<Option<String>, Failure> {
        let kind = call.key.kind();
        if let Some(project) = &self.project {
            return match requested {
                Some(requested) if requested != project => Err(other_project_refused(requested, project)),
                // Nothing else keeps an organization key inside the project.
                _ if kind == KeyKind::Organization && !goes_to_project(entry) => {
                    self.confirm_inside(call, project, ids).await.map(|()| Some(project.clone()))
                }
                _ => Ok(Some(project.clone())),
            };
        }

        let found = self.found(call, entry, requested, ids).await;

        found.map_err(|failure| if entry.effect.is_read_only() { failure } else { unchanged(failure) })
    }

    /// [`Self::resolve`] in global scope.
    async fn found(
        &self,
        call: &CallContext<'_>,
        entry: &OperationEntry,
        requested: Option<&str>,
        ids: &[ResultId],
    ) -> Result<Option<String>, Failure> {
        match (call.key.kind(), requested) {
            (_, None) if !goes_to_project(entry) => Ok(None),
            (KeyKind::Project, None) if needs_project(entry) => self.own_project(call).await.map(Some),
            (KeyKind::Project, None) => Ok(None),
            (KeyKind::Project, Some(requested)) => {
                self.confirm_owner(call, requested, ids).await?;
                Ok(Some(requested.to_owned()))
            }
            (KeyKind::Organization, _) if ids.is_empty() => self.without_ids(requested).map(Some),
            (KeyKind::Organization, _) => self.common_owner(call, requested, ids).await.map(Some),
        }
    }

    /// Remembers what a successful call to `project` has shown.
    pub fn learn(&self, project: &str, ids: impl IntoIterator<Item = ResultId>) {
        if self.project.is_none() {
            self.session.learn(project, ids);
        }
    }

    /// The projects that calls may go to, as far as they are known.
    pub fn known(&self) -> Vec<String> {
        self.project.as_ref().map_or_else(|| self.candidates(None), |project| vec![project.clone()])
    }

    fn without_ids(&self, requested: Option<&str>) -> Result<String, Failure> {
        if let Some(requested) = requested {
            return Ok(requested.to_owned());
        }

        let known = self.candidates(None);
        match known.as_slice() {
            [only] => Ok(only.clone()),
            _ => Err(project_required(&known)),
        }
    }

    /// Projects that may own an id, the likeliest first.
    fn candidates(&self, requested: Option<&str>) -> Vec<String> {
        let mut candidates: indexmap::IndexSet<String> = requested.map(str::to_owned).into_iter().collect();
        candidates.extend(self.session.learned());
        candidates.extend(self.listed.iter().cloned());
        candidates.into_iter().collect()
    }
}

/// Whether requests of the operation name a project at all.
fn goes_to_project(entry: &OperationEntry) -> bool {
    matches!(entry.request.url_base, UrlBase::Project | UrlBase::NamedProject)
        || entry.request.names_project()
}

/// Whether they have to, whatever the key.
fn needs_project(entry: &OperationEntry) -> bool {
    entry.request.url_base == UrlBase::NamedProject || entry.request.names_project()
}

/// Says what a call that would have changed something did about it.
fn unchanged(mut failure: Failure) -> Failure {
    if matches!(failure.code, Code::ProjectScopeMismatch | Code::ProjectNotResolved) {
        failure.message.push_str("; nothing was changed");
    }
    failure
}

/// The project asked for does not own the id. The message names both.
fn mismatch(requested: &str, owning: &str, id: &ResultId) -> Failure {
    let message =
        format!("{} `{}` belongs to project `{owning}`, not to `{requested}`", id.kind.noun(), id.id);
    scope_mismatch(requested, owning, message)
        .hint(format!(
            "use `project_id: \"{owning}\"` or leave `project_id` out, or give ids of `{requested}`"
        ))
        .detail("id", id.id.as_str())
}

/// The project asked for is not that of project scope.
pub(crate) fn other_project_refused(requested: &str, bound: &str) -> Failure {
    let message =
        format!("this server is bound to project `{bound}`, not to `{requested}`; nothing was sent");
    scope_mismatch(requested, bound, message)
        .hint("leave `project_id` out; another project needs a server of its own")
        .detail("id", serde_json::Value::Null)
}

fn scope_mismatch(requested: &str, owning: &str, message: String) -> Failure {
    Failure::new(Code::ProjectScopeMismatch, message)
        .status(409)
        .detail("requested_project", requested)
        .owning_project(owning)
}

/// None of the projects asked has one of the ids.
fn not_resolved(ids: &[&ResultId], asked: &[String]) -> Failure {
    let named: Vec<_> = ids.iter().map(|id| format!("{} `{}`", id.kind.noun(), id.id)).collect();
    let unknown: Vec<_> = ids.iter().map(|id| id.id.clone()).collect();
    let place = if asked.is_empty() {
        "no project is known to look in".to_owned()
    } else {
        format!("not found in {}", asked.join(", "))
    };

    Failure::new(Code::ProjectNotResolved, format!("{}: {place}", named.join(", ")))
        .hint("check the ids, or name their project with `project_id` or the setting TAS_PROJECTS")
        .detail("asked", asked)
        .detail("ids", unknown)
}

fn project_required(known: &[String]) -> Failure {
    let hint = if known.is_empty() {
        "pass `project_id`; TAS_PROJECTS can list the projects of an organization key".to_owned()
    } else {
        format!("pass `project_id`: {}", known.join(", "))
    };
    Failure::new(
        Code::ProjectRequired,
        "nothing in this call identifies a project, and the organization key has several",
    )
    .hint(hint)
    .detail("known_projects", known)
}
