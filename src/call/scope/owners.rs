//! Look-ups of the project that owns an id, and the memory of what they have shown.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::{StreamExt, TryStreamExt, stream};
use indexmap::IndexSet;
use lru::LruCache;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{ASK_ABOUT_PROJECT, scope_mismatch};
use crate::{
    call::sender::RequestSender,
    client::ApiKey,
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{runs::ListRuns, shared_steps::ListSharedSteps},
        catalog::{ListedOperation as _, OperationEntry},
        lenient::view,
        record_kind::ResultId,
        request::{check_id, project_id},
        tool::Access,
    },
};

/// Largest number of look-ups in flight.
const MAX_CONCURRENT_LOOKUPS: usize = 8;

/// Largest number of ids that are remembered. An owner never changes; the limit bounds the memory.
const MAX_IDS: usize = 4_096;

/// Largest number of projects that are remembered.
const MAX_PROJECTS: usize = 256;

/// What a look-up has shown about the owner of an id.
#[derive(Debug)]
enum Owner {
    Project(String),
    /// The record names no project, and was read with a project key.
    ProjectOfKey,
    Unknown,
    /// The key has no access, or is not accepted.
    Forbidden(Failure),
    /// The key lacks the permission to read the record, which the call itself does not need: the service decides.
    Undecided(Failure),
}

/// Where an id is looked up: a project, or the route without a project.
type Place = Option<String>;

/// The owner look-ups of one call.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnerLookup<'a> {
    pub(super) memory: &'a OwnerMemory,
    pub(super) sender: &'a RequestSender<'a>,
    /// Whether the call writes. What was read before does not decide where a write goes.
    pub(super) is_write: bool,
    /// The operation of the call, if the call can go on without the records of its ids: the service keeps it inside
    /// the project of its path.
    pub(super) decided_by_service: Option<&'a OperationEntry>,
}

impl OwnerLookup<'_> {
    /// Checks that `project` owns all `ids`. `elsewhere` are the places where other owners are looked for.
    ///
    /// # Errors
    /// `project_scope_mismatch` that names the owner of an id, `project_not_resolved` if an id has none, or the failure of a
    /// look-up.
    pub(super) async fn confirm(
        self,
        project: &str,
        ids: &[ResultId],
        elsewhere: &[Place],
    ) -> Result<(), Failure> {
        let owners = self.owners(ids, project, elsewhere).await?;
        let asked: Vec<_> =
            [project.to_owned()].into_iter().chain(elsewhere.iter().flatten().cloned()).collect();
        check_owners(Some(project), project, &asked, ids.iter().zip(owners))
    }

    /// Returns the one project that owns all `ids`.
    ///
    /// # Errors
    /// `project_scope_mismatch` if the ids have several owners, `project_not_resolved` if no candidate has an id,
    /// `permission_denied` if several candidates can own them, or the failure of a look-up.
    pub(super) async fn common_owner(
        self,
        ids: &[ResultId],
        candidates: &[String],
    ) -> Result<String, Failure> {
        let places: Vec<_> = candidates.iter().cloned().map(Some).collect();
        let (mut project, mut owners, mut rest) = (None, Vec::new(), ids.iter());
        while project.is_none()
            && let Some(id) = rest.next()
        {
            let owner = match (self.search(id, &places).await?, candidates) {
                (Owner::Undecided(_), [project]) => Owner::Project(project.clone()),
                (Owner::Undecided(failure), _) => return Err(ask_for_project(failure, candidates)),
                (Owner::Forbidden(failure), _) => return Err(failure),
                (owner, _) => owner,
            };
            if let Owner::Project(found) = &owner {
                project = Some(found.clone());
            }
            owners.push(owner);
        }

        let Some(project) = project else { return Err(owner_not_found(&Vec::from_iter(ids), candidates)) };
        // The ids of one call usually belong to one project: the others are looked up in that of the first one.
        owners.extend(self.owners(rest.as_slice(), &project, &places).await?);
        check_owners(None, &project, candidates, ids.iter().zip(owners))?;

        Ok(project)
    }

    /// Returns the owner of each id: `project` if it has the id, or else one of `elsewhere`.
    async fn owners(
        self,
        ids: &[ResultId],
        project: &str,
        elsewhere: &[Place],
    ) -> Result<Vec<Owner>, Failure> {
        let owner = |id: ResultId| async move {
            match self.known_owner(&id) {
                Some(known) if known == project => Ok(Owner::Project(known)),
                _ => self.look_up(&id, Some(project)).await,
            }
        };
        let mut owners: Vec<_> =
            stream::iter(ids.to_vec()).map(owner).buffered(MAX_CONCURRENT_LOOKUPS).try_collect().await?;

        for (id, owner) in ids.iter().zip(&mut owners) {
            if matches!(owner, Owner::Unknown | Owner::Forbidden(_))
                && let found @ Owner::Project(_) = self.search(id, elsewhere).await?
            {
                *owner = found;
            }
        }

        Ok(owners)
    }

    /// Looks up an id in all places concurrently. The first one that has the id ends the search.
    async fn search(self, id: &ResultId, places: &[Place]) -> Result<Owner, Failure> {
        if let Some(project) = self.known_owner(id) {
            return Ok(Owner::Project(project));
        }

        let mut answers = stream::iter(places.to_vec())
            .map(|place| async move { (self.look_up(id, place.as_deref()).await, place) })
            .buffer_unordered(MAX_CONCURRENT_LOOKUPS);
        let (mut failed, mut forbidden, mut undecided, mut is_absent) = (None, None, None, false);

        while let Some((answer, place)) = answers.next().await {
            match answer {
                Ok(Owner::ProjectOfKey) => return self.project_of_key().await.map(Owner::Project),
                Ok(owner @ Owner::Project(_)) => return Ok(owner),
                Ok(Owner::Unknown) => is_absent = true,
                Ok(Owner::Forbidden(failure)) => forbidden = Some(failure),
                Ok(Owner::Undecided(failure)) => undecided = Some(failure),
                Err(failure) => failed = Some(failure.detail("project", place)),
            }
        }

        match (failed, undecided, forbidden) {
            (Some(failure), ..) => Err(failure),
            (_, Some(failure), _) => Ok(Owner::Undecided(failure)),
            // If no place lets the key read, the key is the cause, not the id.
            (_, _, Some(failure)) if !is_absent => Ok(Owner::Forbidden(failure)),
            _ => Ok(Owner::Unknown),
        }
    }

    fn known_owner(self, id: &ResultId) -> Option<String> {
        if self.is_write { None } else { self.memory.owner(id) }
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
        let request = self.sender.request(list, arguments, None)?;
        let response = self.sender.send(&request).await?;
        if response.status != 403 && !response.is_success() {
            return Err(self.sender.refusal(&request, &response));
        }

        let page = response.json().ok();
        Ok(project_of(page.as_ref().and_then(|page| page.pointer("/data/0"))))
    }

    /// Checks with one request per id that the key can read the record of the id.
    ///
    /// # Errors
    /// `project_not_resolved` for the first id that it cannot read, or the failure of a look-up.
    pub(super) async fn confirm_readable(self, ids: &[ResultId]) -> Result<(), Failure> {
        for id in ids {
            if !matches!(self.look_up(id, None).await?, Owner::Project(_) | Owner::ProjectOfKey) {
                return Err(owner_not_found(&[id], &[]));
            }
        }
        Ok(())
    }

    /// Requests the record of an id from a project, or from the route without a project.
    async fn look_up(self, id: &ResultId, place: Option<&str>) -> Result<Owner, Failure> {
        let request = self.sender.request(id.kind.entry(), id.to_arguments(), place)?;
        let response = match self.sender.send(&request).await {
            // The list that replaces the operation does not contain the record.
            Err(failure) if failure.code == Code::NotFound => return Ok(Owner::Unknown),
            outcome => outcome?,
        };

        let refusal = || self.sender.refusal(&request, &response);
        match response.status {
            404 => return Ok(Owner::Unknown),
            401 | 403 => return Ok(self.without_access(refusal(), id, place)),
            _ if !response.is_success() => return Err(refusal()),
            _ => {}
        }

        let record = response.json().ok().filter(Value::is_object);
        let Some(record) = record else { return Ok(Owner::Unknown) };
        let Some(project) = place.map(str::to_owned).or_else(|| project_of(Some(&record))) else {
            return Ok(Owner::ProjectOfKey);
        };
        self.memory.remember(Some(&project), [id.clone()]);

        Ok(Owner::Project(project))
    }

    /// Returns what it means that the service refuses to let the key read the record of an id.
    fn without_access(self, failure: Failure, id: &ResultId, place: Option<&str>) -> Owner {
        if let (Some(entry), Some(missing)) = (self.decided_by_service, &failure.facts.missing_permission)
            && !matches!(entry.access, Access::Permission(needed) if needed == missing)
        {
            return Owner::Undecided(failure);
        }

        let mut failure = failure.detail("id", id.id.as_str());
        if let (Some(project), Code::PermissionDenied) = (place, failure.code) {
            failure.message = format!("project `{project}`: {}", failure.message);
            failure = failure.detail("project", project);
        }

        Owner::Forbidden(failure)
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
    project_id(&project?).ok()
}

/// Facts about projects that answers have shown. All calls share them.
#[derive(Debug)]
pub(super) struct OwnerMemory {
    projects: Mutex<IndexSet<String>>,
    /// The ids that the service has answered with or about, in lower case, with their projects as far as they are known.
    ids: Mutex<LruCache<ResultId, Option<String>>>,
    /// A project key and its project. The key may be replaced while the server runs.
    project_of_key: Mutex<Option<(ApiKey, String)>>,
}

impl Default for OwnerMemory {
    fn default() -> Self {
        let ids = LruCache::unbounded().into();
        Self { projects: Mutex::default(), ids, project_of_key: Mutex::default() }
    }
}

impl OwnerMemory {
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

    fn owner(&self, id: &ResultId) -> Option<String> {
        lock(&self.ids).get(&in_lower_case(id)).cloned().flatten()
    }

    pub(super) fn has_seen(&self, id: &ResultId) -> bool {
        lock(&self.ids).contains(&in_lower_case(id))
    }

    /// Remembers that the service has answered with these ids or about them: `project`, which owns them, or an unknown project.
    pub(super) fn remember(&self, project: Option<&str>, ids: impl IntoIterator<Item = ResultId>) {
        if let Some(project) = project {
            let mut projects = lock(&self.projects);
            if projects.len() < MAX_PROJECTS && !projects.contains(project) {
                projects.insert(project.to_owned());
            }
        }

        // The ids are those of an answer, too, and longer ones cannot be used.
        let mut known = lock(&self.ids);
        for id in ids.into_iter().filter(|id| check_id(&id.id).is_ok()) {
            let owner = known.get_or_insert_mut(in_lower_case(&id), || None);
            *owner = owner.take().or_else(|| project.map(str::to_owned));
            if known.len() > MAX_IDS {
                known.pop_lru();
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn in_lower_case(id: &ResultId) -> ResultId {
    ResultId::new(id.kind, id.id.to_ascii_lowercase())
}

/// Checks that `project` owns all ids. `requested` is the project that the caller has named.
fn check_owners<'a>(
    requested: Option<&str>,
    project: &str,
    asked: &[String],
    owners: impl Iterator<Item = (&'a ResultId, Owner)>,
) -> Result<(), Failure> {
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for (id, owner) in owners {
        match owner {
            Owner::Project(owner) => known.push((id, owner)),
            Owner::ProjectOfKey | Owner::Undecided(_) => known.push((id, project.to_owned())),
            Owner::Forbidden(failure) => return Err(failure),
            Owner::Unknown => unknown.push(id),
        }
    }

    if !unknown.is_empty() {
        let failure = owner_not_found(&unknown, asked);
        // The caller has named the project already.
        return Err(match requested {
            Some(_) => failure.hint("check the ids: they are in none of the projects that were asked"),
            None => failure,
        });
    }
    if known.iter().any(|(_, owner)| owner != project) { Err(mismatch(requested, &known)) } else { Ok(()) }
}

/// Returns the failure for ids that the key may not read in several projects.
fn ask_for_project(failure: Failure, asked: &[String]) -> Failure {
    failure
        .hint("pass `argument:project_id`, so that nothing has to be looked up, or use a key with this permission")
        .detail("asked", asked)
}

/// Returns the failure for ids that the requested project does not own, or that belong to several projects. The message names the
/// project of each id.
fn mismatch(requested: Option<&str>, owners: &[(&ResultId, String)]) -> Failure {
    let name = |id: &ResultId| format!("{} `{}`", id.kind.noun(), id.id);
    let foreign = requested.and_then(|requested| {
        let (id, owner) = owners.iter().find(|(_, owner)| owner != requested)?;
        Some((requested, *id, owner))
    });

    if let Some((requested, id, owner)) = foreign
        && owners.iter().all(|(_, other)| other == owner)
    {
        let message = format!("{} belongs to project `{owner}`, not to `{requested}`", name(id));
        let hint = format!(
            "{ASK_ABOUT_PROJECT}: with a yes, pass `argument:project_id: \"{owner}\"`; without one, give ids of `{requested}`"
        );
        return scope_mismatch(requested, owner, message).hint(hint).detail("id", id.id.as_str());
    }

    let named: Vec<_> = owners.iter().map(|(id, owner)| format!("{} to `{owner}`", name(id))).collect();
    let listed: Vec<_> = owners.iter().map(|(id, owner)| json!({"id": id.id, "project": owner})).collect();
    let message = format!("the ids belong to several projects: {}", named.join(", "));
    let failure = match foreign {
        Some((requested, id, owner)) => {
            scope_mismatch(requested, owner, message).detail("id", id.id.as_str())
        }
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
    use crate::service::record_kind::ResultKind;

    #[test]
    fn no_long_text_of_an_answer_is_remembered_and_not_every_id() {
        let memory = OwnerMemory::default();
        let id = |length| ResultId::new(ResultKind::Run, "r".repeat(length));
        memory.remember(Some("demo"), [id(4 << 20), id(12)]);
        memory.remember(None, [id(12)]);

        assert_eq!([4 << 20, 12].map(|length| memory.owner(&id(length))), [None, Some("demo".to_owned())]);
        memory.remember(None, (0..MAX_IDS).map(|number| ResultId::new(ResultKind::Run, number.to_string())));
        assert_eq!((memory.owner(&id(12)), lock(&memory.ids).len()), (None, MAX_IDS));
        for (project, expected) in [("demo", Some("demo")), ("a b", None), ("..", None), ("-x", None)] {
            assert_eq!(project_of(Some(&json!({"project_id": project}))).as_deref(), expected);
        }
    }
}
