//! Look-ups of the project that owns an id, and the memory of what they have shown.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::{StreamExt, TryStreamExt, stream};
use indexmap::IndexSet;
use moka::sync::Cache;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ASK_ABOUT_PROJECT, scope_mismatch};
use crate::{
    call::{ids::is_id, request::RequestSender},
    client::ApiKey,
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{runs::ListRuns, shared_steps::ListSharedSteps},
        catalog::{ListedOperation as _, OperationEntry},
        lenient::view,
        request::check_segment,
        result_kind::ResultId,
        tool::Access,
    },
};

/// Largest number of look-ups in flight.
const MAX_CONCURRENT_LOOKUPS: usize = 8;

/// Largest number of owners, and of seen records, that are remembered. An owner never changes; the limit bounds the memory.
const MAX_OWNERS: u64 = 4_096;

/// Largest number of projects that are remembered.
const MAX_PROJECTS: usize = 256;

/// What the look-ups of an id have shown about its owner.
#[derive(Debug)]
pub(super) enum Owner {
    /// The project owns the id.
    Known(String),
    /// One of the projects can own the id: the key lacks the permission to read the record there.
    Unreadable { projects: Vec<String>, failure: Failure },
}

impl Owner {
    fn known(&self) -> Option<&str> {
        match self {
            Self::Known(project) => Some(project),
            Self::Unreadable { .. } => None,
        }
    }
}

/// The answer of a project, or of the route without a project, to the look-up of an id.
enum LookupResult {
    /// The project that the record names, if it names one.
    Found(Option<String>),
    NotFound,
    /// The key has no access to the project, or is not accepted.
    Forbidden(Failure),
    /// The key lacks the permission to read the record, which the call itself does not need.
    Unreadable(Failure),
}

/// The owner look-ups of one call.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnerLookup<'a> {
    pub(super) memory: &'a OwnerMemory,
    pub(super) sender: &'a RequestSender<'a>,
    /// The operation of the call, if the call can go on without the records of its ids: the service keeps it inside
    /// the project of its path.
    pub(super) decided_by_service: Option<&'a OperationEntry>,
}

impl OwnerLookup<'_> {
    /// Returns the owner of each id; `None` for an id that no candidate has.
    ///
    /// The ids of one call usually have the same owner. Therefore the other ids are first looked up concurrently in the
    /// project of the first id. Only ids that this project does not have are looked up in all candidates.
    ///
    /// # Errors
    /// `project_not_resolved` if no candidate has an id, or the failure of a look-up.
    pub(super) async fn owners(self, ids: &[ResultId], candidates: &[String]) -> Result<Vec<Owner>, Failure> {
        let [first, rest @ ..] = ids else { return Ok(Vec::new()) };
        let owner = self.owner_among(first, candidates).await?;
        let likely: Vec<_> = owner.iter().filter_map(Owner::known).map(str::to_owned).collect();
        let likely = likely.as_slice();
        let mut owners: Vec<_> = stream::iter(rest.to_vec())
            .map(|id| async move { self.owner_among(&id, likely).await.ok().flatten() })
            .buffered(MAX_CONCURRENT_LOOKUPS)
            .collect()
            .await;

        for (id, owner) in rest.iter().zip(&mut owners) {
            if owner.is_none() {
                *owner = self.owner_among(id, candidates).await?;
            }
        }
        owners.insert(0, owner);

        let unknown: Vec<_> =
            ids.iter().zip(&owners).filter(|(_, owner)| owner.is_none()).map(|(id, _)| id).collect();
        if unknown.is_empty() {
            Ok(owners.into_iter().flatten().collect())
        } else {
            Err(owner_not_found(&unknown, candidates))
        }
    }

    /// Looks up an id in the candidates concurrently. The first candidate that has the id ends the search.
    async fn owner_among(self, id: &ResultId, candidates: &[String]) -> Result<Option<Owner>, Failure> {
        if let Some(project) = self.memory.owner(id) {
            return Ok(Some(Owner::Known(project)));
        }

        let mut results = stream::iter(candidates.to_vec())
            .map(|project| async move {
                let result = self.look_up(id, Some(&project)).await;
                (project, result)
            })
            .buffer_unordered(MAX_CONCURRENT_LOOKUPS);
        let (mut failed, mut forbidden, mut is_absent_somewhere) = (None, None, false);
        let (mut unreadable_in, mut unreadable) = (Vec::new(), None);

        while let Some((project, result)) = results.next().await {
            match result {
                Ok(LookupResult::Found(_)) => {
                    self.memory.remember_owner(&project, [id.clone()]);
                    return Ok(Some(Owner::Known(project)));
                }
                Ok(LookupResult::NotFound) => is_absent_somewhere = true,
                Ok(LookupResult::Forbidden(failure)) => forbidden = Some(failure),
                Ok(LookupResult::Unreadable(failure)) => {
                    unreadable_in.push(project);
                    unreadable = Some(failure);
                }
                Err(failure) => failed = Some(failure.detail("project", project.as_str())),
            }
        }

        match (failed, unreadable, forbidden) {
            (Some(failure), _, _) => Err(failure),
            (None, Some(failure), _) => Ok(Some(Owner::Unreadable { projects: unreadable_in, failure })),
            // If no candidate lets the key read, the key is the cause, not the id.
            (None, None, Some(failure)) if !is_absent_somewhere => Err(failure),
            _ => Ok(None),
        }
    }

    /// Returns the one project that owns all the ids. `owners` are the owners of the ids. The service decides about ids that the key cannot read.
    ///
    /// # Errors
    /// `project_scope_mismatch` if the ids have different owners or another owner than the requested project,
    /// `permission_denied` if several projects can own them, or the failure of a look-up.
    pub(super) async fn common_owner(
        self,
        requested: Option<&str>,
        ids: &[ResultId],
        owners: Vec<Owner>,
    ) -> Result<String, Failure> {
        let expected = expected_owner(requested, &owners)?;
        let known: Vec<_> = owners.iter().filter_map(Owner::known).map(str::to_owned).collect();

        for (id, owner) in ids.iter().zip(owners) {
            let project = match owner {
                Owner::Known(project) if project == expected => continue,
                Owner::Unreadable { projects, .. } if projects.contains(&expected) => continue,
                Owner::Unreadable { .. } => return Err(owner_not_found(&[id], &[expected])),
                Owner::Known(project) => project,
            };

            // The owner may be the expected project under its other name (service.md 1.1).
            match self.look_up(id, Some(&expected)).await? {
                LookupResult::Found(_) => {}
                _ if known.len() == ids.len() && known.iter().any(|other| *other != project) => {
                    let owners: Vec<_> = ids.iter().zip(known.iter().map(String::as_str)).collect();
                    return Err(several_owners(requested, &owners));
                }
                _ => return Err(owner_mismatch(&expected, &project, id)),
            }
        }

        Ok(expected)
    }

    /// Checks that the ids of a call with a project key belong to the requested project.
    ///
    /// # Errors
    /// `project_scope_mismatch` or `project_not_resolved` for the first id of another project, or the failure of a
    /// look-up.
    pub(super) async fn confirm_owner(self, requested: &str, ids: &[ResultId]) -> Result<(), Failure> {
        let looked_up = stream::iter(ids.to_vec())
            .map(|id| async move { self.confirm_owner_of(requested, &id).await })
            .buffered(MAX_CONCURRENT_LOOKUPS);
        looked_up.try_collect().await
    }

    async fn confirm_owner_of(self, requested: &str, id: &ResultId) -> Result<(), Failure> {
        // An owner never changes, so that a known owner needs no request.
        let known = self.memory.owner(id);
        if known.as_deref() == Some(requested) {
            self.memory.remember_owner(requested, [id.clone()]);
            return Ok(());
        }

        let refusal = match self.look_up(id, Some(requested)).await? {
            LookupResult::Found(_) => {
                self.memory.remember_owner(requested, [id.clone()]);
                return Ok(());
            }
            LookupResult::Unreadable(_) if known.is_none() => return Ok(()),
            LookupResult::NotFound | LookupResult::Unreadable(_) => None,
            LookupResult::Forbidden(failure) => Some(failure),
        };

        let owner = match known {
            Some(owner) => owner,
            None => self.owner_by_key(requested, id, refusal).await?,
        };
        self.memory.remember_owner(&owner, [id.clone()]);

        Err(owner_mismatch(requested, &owner, id))
    }

    /// Returns the owner of an id that the requested project does not have, read from the route without a project.
    /// `refusal` is the failure of a requested project to which the key has no access.
    async fn owner_by_key(
        self,
        requested: &str,
        id: &ResultId,
        refusal: Option<Failure>,
    ) -> Result<String, Failure> {
        match self.look_up(id, None).await? {
            LookupResult::Found(Some(project)) => Ok(project),
            // A project key reads only records of its own project.
            LookupResult::Found(None) => self.project_of_key().await,
            LookupResult::Forbidden(failure) => Err(refusal.unwrap_or(failure)),
            LookupResult::NotFound | LookupResult::Unreadable(_) => {
                Err(refusal.unwrap_or_else(|| owner_not_found(&[id], &[requested.to_owned()])))
            }
        }
    }

    /// Returns the project of a project key. It is read once from a record that names its project, and then remembered.
    ///
    /// # Errors
    /// `project_required` if the key can read no such record, or the failure of a look-up.
    pub(super) async fn project_of_key(self) -> Result<String, Failure> {
        if let Some(known) = self.memory.project_of_key(&self.sender.key) {
            return Ok(known);
        }

        // Reading runs needs a permission; reading shared steps does not.
        for list in [ListRuns::entry(), ListSharedSteps::entry()] {
            if let Some(project) = self.project_of_first_record(list).await? {
                self.memory.remember_project_of_key(&self.sender.key, &project);
                return Ok(project);
            }
        }

        let message = "the project of the key is unknown: the key can read no record that names it";
        Err(Failure::new(Code::ProjectRequired, message)
            .hint("pass `argument:project_id`, or set TAS_PROJECT_ID"))
    }

    /// Returns the project of the first record of a list; `None` if the list is empty or the key may not read it.
    async fn project_of_first_record(self, list: &'static OperationEntry) -> Result<Option<String>, Failure> {
        let arguments = Fields::from_iter([("page_size".to_owned(), Value::from(1))]);
        let request = self.sender.request(list, arguments)?;
        let answer = self.sender.send(&request, None).await?;
        if answer.response.status != 403 && !answer.response.is_success() {
            return Err(self.sender.refusal(&request, None, &answer.response));
        }

        let page = answer.parsed().json;
        Ok(project_of(page.as_ref().and_then(|page| page.pointer("/data/0"))))
    }

    /// Checks that every id belongs to the project of project scope.
    ///
    /// # Errors
    /// `project_not_resolved` for the first id of another project, or the failure of a look-up.
    pub(super) async fn confirm_all_inside(self, project: &str, ids: &[ResultId]) -> Result<(), Failure> {
        for id in ids {
            if self.memory.owner(id).as_deref() != Some(project) {
                match self.look_up(id, Some(project)).await? {
                    LookupResult::Found(_) => self.memory.remember_owner(project, [id.clone()]),
                    LookupResult::NotFound => return Err(owner_not_found(&[id], &[project.to_owned()])),
                    LookupResult::Forbidden(failure) | LookupResult::Unreadable(failure) => {
                        return Err(failure);
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks with one request per id that the key can read the record of the id.
    ///
    /// # Errors
    /// `project_not_resolved` for the first id that it cannot read, or the failure of a look-up.
    pub(super) async fn confirm_readable(self, ids: &[ResultId]) -> Result<(), Failure> {
        for id in ids {
            if !matches!(self.look_up(id, None).await?, LookupResult::Found(_)) {
                return Err(owner_not_found(&[id], &[]));
            }
        }
        Ok(())
    }

    /// Requests the record of an id from a project, or from the route without a project.
    async fn look_up(self, id: &ResultId, project: Option<&str>) -> Result<LookupResult, Failure> {
        let request = self.sender.request(id.kind.entry(), id.to_arguments())?;
        let answer = match self.sender.send(&request, project).await {
            // The list that replaces the operation does not contain the record.
            Err(failure) if failure.code == Code::NotFound => return Ok(LookupResult::NotFound),
            outcome => outcome?,
        };

        let refusal = || self.sender.refusal(&request, project, &answer.response);
        match answer.response.status {
            404 => Ok(LookupResult::NotFound),
            401 | 403 => Ok(self.without_access(refusal(), id, project)),
            _ if !answer.response.is_success() => Err(refusal()),
            _ => {
                let record = answer.parsed().json.filter(Value::is_object);
                Ok(record
                    .map_or(LookupResult::NotFound, |record| LookupResult::Found(project_of(Some(&record)))))
            }
        }
    }

    /// Returns what it means that the service refuses to let the key read the record of an id.
    fn without_access(self, failure: Failure, id: &ResultId, project: Option<&str>) -> LookupResult {
        if let (Some(entry), Some(missing)) = (self.decided_by_service, &failure.facts.missing_permission)
            && !matches!(entry.access, Access::Permission(needed) if needed == missing)
        {
            return LookupResult::Unreadable(failure);
        }

        let mut failure = failure.detail("id", id.id.as_str());
        if let (Some(project), Code::PermissionDenied) = (project, failure.code) {
            failure.message = format!("project `{project}`: {}", failure.message);
            failure = failure.detail("project", project);
        }

        LookupResult::Forbidden(failure)
    }
}

/// Any record of a project.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ProjectRecord {
    project_id: Option<String>,
}

/// Returns the project that a record names. A text that is no id is not used as one.
fn project_of(record: Option<&Value>) -> Option<String> {
    let project = view::<ProjectRecord>(record?).project_id;
    project.filter(|project| is_id(project) && check_segment(project).is_ok())
}

/// Facts about projects that answers have shown. All calls share them.
#[derive(Debug)]
pub(super) struct OwnerMemory {
    projects: Mutex<IndexSet<String>>,
    owners: Cache<ResultId, String>,
    /// The records that the service has answered with or about, with ids in lower case.
    seen: Cache<ResultId, ()>,
    /// A project key and its project. The key may be replaced while the server runs.
    project_of_key: Mutex<Option<(ApiKey, String)>>,
}

impl Default for OwnerMemory {
    fn default() -> Self {
        Self {
            projects: Mutex::default(),
            owners: Cache::new(MAX_OWNERS),
            seen: Cache::new(MAX_OWNERS),
            project_of_key: Mutex::default(),
        }
    }
}

impl OwnerMemory {
    /// Returns the project that owns `id`, if it is known.
    fn owner(&self, id: &ResultId) -> Option<String> {
        self.owners.get(id)
    }

    fn project_of_key(&self, key: &ApiKey) -> Option<String> {
        let known = lock(&self.project_of_key);
        let (_, project) = known.as_ref().filter(|(known, _)| known.is_same_as(key))?;
        Some(project.clone())
    }

    fn remember_project_of_key(&self, key: &ApiKey, project: &str) {
        *lock(&self.project_of_key) = Some((key.clone(), project.to_owned()));
    }

    /// Returns the projects that have answered, the first one first.
    pub(super) fn projects(&self) -> Vec<String> {
        lock(&self.projects).iter().cloned().collect()
    }

    pub(super) fn remember_seen(&self, ids: &[ResultId]) {
        for id in ids.iter().filter(|id| check_segment(&id.id).is_ok()) {
            self.seen.insert(in_lower_case(id), ());
        }
    }

    pub(super) fn has_seen(&self, id: &ResultId) -> bool {
        self.seen.contains_key(&in_lower_case(id))
    }

    /// Remembers that `project` has answered, and owns these ids.
    pub(super) fn remember_owner(&self, project: &str, ids: impl IntoIterator<Item = ResultId>) {
        let mut projects = lock(&self.projects);
        if projects.len() < MAX_PROJECTS {
            projects.insert(project.to_owned());
        }

        // The ids are those of an answer, too, and longer ones cannot be used.
        for id in ids.into_iter().filter(|id| check_segment(&id.id).is_ok()) {
            self.owners.insert(id, project.to_owned());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn in_lower_case(id: &ResultId) -> ResultId {
    ResultId::new(id.kind, id.id.to_ascii_lowercase())
}

/// Returns the project to which a call goes: the requested one, else the owner of one of its ids, else the only one that
/// can own them.
fn expected_owner(requested: Option<&str>, owners: &[Owner]) -> Result<String, Failure> {
    if let Some(expected) = requested.or_else(|| owners.iter().find_map(Owner::known)) {
        return Ok(expected.to_owned());
    }

    match owners.first() {
        Some(Owner::Unreadable { projects, .. }) if projects.len() == 1 => Ok(projects.concat()),
        Some(Owner::Unreadable { projects, failure }) => Err(failure
            .clone()
            .hint("pass `argument:project_id`, so that nothing has to be looked up, or use a key with this permission")
            .detail("asked", projects.as_slice())),
        _ => Ok(String::new()),
    }
}

/// Returns the failure for an id that the requested project does not own. The message names both projects.
fn owner_mismatch(requested: &str, owner: &str, id: &ResultId) -> Failure {
    let message =
        format!("{} `{}` belongs to project `{owner}`, not to `{requested}`", id.kind.noun(), id.id);
    let hint = format!(
        "{ASK_ABOUT_PROJECT}: with a yes, pass `argument:project_id: \"{owner}\"`; without one, give ids of `{requested}`"
    );
    scope_mismatch(requested, owner, message).hint(hint).detail("id", id.id.as_str())
}

/// Returns the failure for ids of one call that belong to several projects. The message names the project of each id.
fn several_owners(requested: Option<&str>, owners: &[(&ResultId, &str)]) -> Failure {
    let named: Vec<_> =
        owners.iter().map(|(id, owner)| format!("{} `{}` to `{owner}`", id.kind.noun(), id.id)).collect();
    let listed: Vec<_> = owners.iter().map(|(id, owner)| json!({"id": id.id, "project": owner})).collect();

    let message = format!("the ids belong to several projects: {}", named.join(", "));
    let foreign = requested.and_then(|requested| {
        let (id, owner) = owners.iter().find(|(_, owner)| *owner != requested)?;
        Some((requested, *owner, id.id.as_str()))
    });
    let failure = match foreign {
        Some((requested, owner, id)) => scope_mismatch(requested, owner, message).detail("id", id),
        None => Failure::new(Code::ProjectScopeMismatch, message).status(409),
    };

    let hint = format!("{ASK_ABOUT_PROJECT}, then make one call for the ids of each project");
    failure.hint(hint).detail("owners", listed)
}

/// Returns the failure for ids that none of the projects `asked` has.
fn owner_not_found(ids: &[&ResultId], asked: &[String]) -> Failure {
    let named: Vec<_> = ids.iter().map(|id| format!("{} `{}`", id.kind.noun(), id.id)).collect();
    let unknown: Vec<_> = ids.iter().map(|id| id.id.clone()).collect();
    let reason = if asked.is_empty() {
        "no project is known in which they can be looked up".to_owned()
    } else {
        format!("not found in {}", asked.join(", "))
    };

    Failure::new(Code::ProjectNotResolved, format!("{}: {reason}", named.join(", ")))
        .hint("check the ids, or name their project with `argument:project_id` or the setting TAS_PROJECTS")
        .detail("asked", asked)
        .detail("ids", unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::result_kind::ResultKind;

    #[test]
    fn no_long_text_of_an_answer_is_remembered() {
        let memory = OwnerMemory::default();
        let id = |length| ResultId::new(ResultKind::Run, "r".repeat(length));
        memory.remember_owner("demo", [id(4 << 20), id(12)]);

        assert_eq!((memory.owner(&id(4 << 20)), memory.owner(&id(12))), (None, Some("demo".to_owned())));
        for (project, expected) in [("demo", Some("demo")), ("a b", None), ("..", None), ("-x", None)] {
            assert_eq!(project_of(Some(&json!({"project_id": project}))).as_deref(), expected);
        }
    }
}
