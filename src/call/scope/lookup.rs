//! Look-ups of the project that owns an id.

use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::Value;

use super::{
    errors::{owner_mismatch, owner_not_found, project_of_key_unknown, several_owners},
    session::Session,
};
use crate::{
    call::{context::CallContext, operation_request::OperationRequest, reply},
    client::HttpResponse,
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{runs::ListRuns, shared_steps::ListSharedSteps},
        catalog::{ListedOperation as _, OperationEntry},
        result_kind::ResultId,
    },
};

/// Largest number of look-ups in flight.
const MAX_CONCURRENT_LOOKUPS: usize = 8;

/// A record that a look-up has read, with the request that returned it.
#[derive(Clone, Debug)]
pub(super) struct OwnerRecord {
    pub(super) request: OperationRequest,
    pub(super) answer: HttpResponse,
}

/// The project that owns an id.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    pub(super) project: String,
    /// The record of the id; `None` if the owner was already known.
    pub(super) record: Option<Box<OwnerRecord>>,
}

/// The answer of a project, or of the route without a project, to the look-up of an id.
enum LookupResult {
    Found(Box<OwnerRecord>),
    NotFound,
    /// The key is not permitted to read the record.
    Forbidden(Failure),
}

/// The owner look-ups of one call.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnerLookup<'a> {
    pub(super) session: &'a Session,
    pub(super) context: &'a CallContext<'a>,
}

impl OwnerLookup<'_> {
    /// Checks that the ids of a call with a project key belong to the requested project. Returns the record if there is only
    /// one id.
    ///
    /// # Errors
    /// `project_scope_mismatch` or `project_not_resolved` for the first id of another project, or the failure of a look-up.
    pub(super) async fn confirm_owner(
        self,
        requested: &str,
        ids: &[ResultId],
    ) -> Result<Option<Box<OwnerRecord>>, Failure> {
        let records: Vec<_> = stream::iter(ids.to_vec())
            .map(|id| async move { self.confirm_owner_of(requested, &id).await })
            .buffered(MAX_CONCURRENT_LOOKUPS)
            .try_collect()
            .await?;

        match <[_; 1]>::try_from(records) {
            Ok([record]) => Ok(record),
            Err(_) => Ok(None),
        }
    }

    async fn confirm_owner_of(
        self,
        requested: &str,
        id: &ResultId,
    ) -> Result<Option<Box<OwnerRecord>>, Failure> {
        // An owner never changes, so that a known owner needs no request.
        let known = self.session.owner(id);
        if known.as_deref() == Some(requested) {
            self.session.remember_owner(requested, [id.clone()]);
            return Ok(None);
        }

        if let Some(record) = self.find_in(requested, id).await? {
            self.session.remember_owner(requested, [id.clone()]);
            return Ok(Some(record));
        }

        let owner = match known {
            Some(owner) => owner,
            None => self.owner_by_key(requested, id).await?,
        };
        self.session.remember_owner(&owner, [id.clone()]);

        Err(owner_mismatch(requested, &owner, id))
    }

    /// Returns the owner of an id that the requested project does not have, read from the route without a project.
    async fn owner_by_key(self, requested: &str, id: &ResultId) -> Result<String, Failure> {
        match self.look_up(id, None).await? {
            LookupResult::Found(record) => {
                let fields = parse_record(&record.answer).await.unwrap_or_default();
                match fields.get("project_id").and_then(Value::as_str) {
                    Some(project) => Ok(project.to_owned()),
                    // A project key reads only records of its own project.
                    None => self.project_of_key().await,
                }
            }
            LookupResult::NotFound => Err(owner_not_found(&[id], &[requested.to_owned()])),
            LookupResult::Forbidden(failure) => Err(failure),
        }
    }

    /// Returns the project of a project key. It is read once from a record that names its project, and then remembered.
    ///
    /// # Errors
    /// `project_required` if the key can read no such record, or the failure of a look-up.
    pub(super) async fn project_of_key(self) -> Result<String, Failure> {
        if let Some(known) = self.session.project_of_key(&self.context.key) {
            return Ok(known);
        }

        // Reading runs needs a permission; reading shared steps does not.
        for list in [ListRuns::entry(), ListSharedSteps::entry()] {
            if let Some(project) = self.project_of_first_record(list).await? {
                self.session.remember_project_of_key(&self.context.key, &project);
                return Ok(project);
            }
        }

        Err(project_of_key_unknown())
    }

    /// Returns the project of the first record of a list; `None` if the list is empty or the key may not read it.
    async fn project_of_first_record(self, list: &'static OperationEntry) -> Result<Option<String>, Failure> {
        let arguments = Fields::from_iter([("page_size".to_owned(), Value::from(1))]);
        let request = self.context.request(list, arguments)?;
        let answer = self.context.send(&request, None).await?;
        if answer.status != 403 && !answer.is_success() {
            return Err(self.context.answer_failure(&request, None, &answer));
        }

        let page = reply::parse_body(&answer).await.unwrap_or_default();

        Ok(page.pointer("/data/0/project_id").and_then(Value::as_str).map(str::to_owned))
    }

    /// Checks that every id belongs to the project of project scope.
    ///
    /// # Errors
    /// `project_not_resolved` for the first id of another project, or the failure of a look-up.
    pub(super) async fn confirm_all_inside(self, project: &str, ids: &[ResultId]) -> Result<(), Failure> {
        for id in ids {
            if self.session.owner(id).as_deref() != Some(project) {
                if self.find_in(project, id).await?.is_none() {
                    return Err(owner_not_found(&[id], &[project.to_owned()]));
                }
                self.session.remember_owner(project, [id.clone()]);
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

    /// Returns the one project that owns all the ids, with the record if there is only one id.
    ///
    /// # Errors
    /// `project_not_resolved` if no candidate has an id, `project_scope_mismatch` if the ids have different owners or
    /// another owner than the requested project, or the failure of a look-up.
    pub(super) async fn common_owner(
        self,
        requested: Option<&str>,
        ids: &[ResultId],
        candidates: &[String],
    ) -> Result<Owner, Failure> {
        let owners = self.owners(ids, candidates).await?;
        let unknown: Vec<_> =
            ids.iter().zip(&owners).filter(|(_, owner)| owner.is_none()).map(|(id, _)| id).collect();
        if !unknown.is_empty() {
            return Err(owner_not_found(&unknown, candidates));
        }

        let owners: Vec<_> = owners.into_iter().flatten().collect();
        let first = owners.first().map(|owner| owner.project.as_str());
        let expected = requested.or(first).unwrap_or_default().to_owned();
        let projects: Vec<_> = owners.iter().map(|owner| owner.project.clone()).collect();
        let mut records = Vec::new();

        for (id, owner) in ids.iter().zip(owners) {
            if owner.project == expected {
                records.push(owner.record);
                continue;
            }

            // The owner may be the expected project under its other name.
            match self.find_in(&expected, id).await? {
                Some(record) => records.push(Some(record)),
                None if projects.iter().any(|project| *project != owner.project) => {
                    let owners: Vec<_> = ids.iter().zip(projects.iter().map(String::as_str)).collect();
                    return Err(several_owners(requested, &owners));
                }
                None => return Err(owner_mismatch(&expected, &owner.project, id)),
            }
        }

        let record = if records.len() == 1 { records.pop().flatten() } else { None };

        Ok(Owner { project: expected, record })
    }

    /// Returns the owner of each id.
    ///
    /// The ids of one call usually have the same owner. Therefore the other ids are first looked up concurrently in the
    /// project of the first id. Only ids that this project does not have are looked up in all candidates.
    async fn owners(self, ids: &[ResultId], candidates: &[String]) -> Result<Vec<Option<Owner>>, Failure> {
        let [first, rest @ ..] = ids else { return Ok(Vec::new()) };
        let owner = self.owner_among(first, candidates).await?;
        let likely: Vec<_> = owner.iter().map(|owner| owner.project.clone()).collect();
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

        Ok(owners)
    }

    /// Looks up an id in the candidates concurrently. The first candidate that has the id ends the search.
    async fn owner_among(self, id: &ResultId, candidates: &[String]) -> Result<Option<Owner>, Failure> {
        if let Some(project) = self.session.owner(id) {
            return Ok(Some(Owner { project, record: None }));
        }

        let mut results = stream::iter(candidates.to_vec())
            .map(|project| async move {
                let result = self.look_up(id, Some(&project)).await;
                (project, result)
            })
            .buffer_unordered(MAX_CONCURRENT_LOOKUPS);
        let (mut failed, mut forbidden, mut is_absent_somewhere) = (None, None, false);

        while let Some((project, result)) = results.next().await {
            match result {
                Ok(LookupResult::Found(record)) => {
                    self.session.remember_owner(&project, [id.clone()]);
                    return Ok(Some(Owner { project, record: Some(record) }));
                }
                Ok(LookupResult::NotFound) => is_absent_somewhere = true,
                Ok(LookupResult::Forbidden(failure)) => forbidden = Some(failure),
                Err(failure) => failed = Some(failure.detail("project", project.as_str())),
            }
        }

        match (failed, forbidden) {
            (Some(failure), _) => Err(failure),
            // If no candidate lets the key read, the key is the cause, not the id.
            (None, Some(failure)) if !is_absent_somewhere => Err(failure),
            _ => Ok(None),
        }
    }

    /// Returns the record of an id if `project` has it. A project can have two names (supplement 1.1), so that a comparison
    /// of names does not decide this.
    async fn find_in(self, project: &str, id: &ResultId) -> Result<Option<Box<OwnerRecord>>, Failure> {
        match self.look_up(id, Some(project)).await? {
            LookupResult::Found(record) => Ok(Some(record)),
            LookupResult::NotFound | LookupResult::Forbidden(_) => Ok(None),
        }
    }

    /// Requests the record of an id from a project, or from the route without a project.
    async fn look_up(self, id: &ResultId, project: Option<&str>) -> Result<LookupResult, Failure> {
        let request = self.context.request(id.kind.entry(), id.to_arguments())?;
        let answer = match self.context.send(&request, project).await {
            // The list that replaces the operation does not contain the record.
            Err(failure) if failure.code == Code::NotFound => return Ok(LookupResult::NotFound),
            outcome => outcome?,
        };

        match answer.status {
            404 => Ok(LookupResult::NotFound),
            401 | 403 => Ok(LookupResult::Forbidden(self.context.answer_failure(&request, project, &answer))),
            _ if answer.is_success() => Ok(match parse_record(&answer).await {
                Some(_) => LookupResult::Found(Box::new(OwnerRecord { request, answer })),
                None => LookupResult::NotFound,
            }),
            _ => Err(self.context.answer_failure(&request, project, &answer)),
        }
    }
}

/// Returns the fields of an answer; `None` if the answer is not a JSON object.
async fn parse_record(answer: &HttpResponse) -> Option<Fields> {
    match reply::parse_body(answer).await {
        Ok(Value::Object(record)) => Some(record),
        _ => None,
    }
}
