//! Looking up which project owns an id.

use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::Value;

use super::{Scope, mismatch, not_resolved};
use crate::{
    call::context::CallContext,
    client::HttpResponse,
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{runs::ListRuns, steps::ListSharedSteps},
        catalog,
        operation::Operation,
        result_kind::ResultId,
    },
};

/// Most look-ups under way at once.
const AT_ONCE: usize = 8;

/// Lists whose records name their project; the second takes any key.
const TELLING: [&str; 2] = [ListRuns::NAME, ListSharedSteps::NAME];

/// What a project, or the key's own one, says about an id.
enum Asked {
    /// It has it.
    Found(Fields),
    /// It does not have it.
    Absent,
    /// The key may not look there.
    Refused(Failure),
}

impl Scope {
    /// Makes sure that a project key's ids belong to the project that was asked for.
    pub(super) async fn confirm_owner(
        &self,
        call: &CallContext<'_>,
        requested: &str,
        ids: &[ResultId],
    ) -> Result<(), Failure> {
        stream::iter(ids.to_vec())
            .map(|id| async move { self.confirm_owner_of(call, requested, &id).await })
            .buffered(AT_ONCE)
            .try_collect()
            .await
    }

    async fn confirm_owner_of(
        &self,
        call: &CallContext<'_>,
        requested: &str,
        id: &ResultId,
    ) -> Result<(), Failure> {
        let known = self.session.owner(id);
        if known.as_deref() == Some(requested) || has(call, requested, id).await? {
            self.session.learn(requested, [id.clone()]);
            return Ok(());
        }

        let owner = match known {
            Some(owner) => owner,
            None => self.owner_by_key(call, requested, id).await?,
        };
        self.session.learn(&owner, [id.clone()]);

        Err(mismatch(requested, &owner, id))
    }

    /// The owner of an id that a project key can see, and that is not of the project that was asked for.
    async fn owner_by_key(
        &self,
        call: &CallContext<'_>,
        requested: &str,
        id: &ResultId,
    ) -> Result<String, Failure> {
        match ask(call, id, None).await? {
            Asked::Found(record) => match record.get("project_id").and_then(Value::as_str) {
                Some(named) => Ok(named.to_owned()),
                None => self.own_project(call).await,
            },
            Asked::Absent => Err(not_resolved(&[id], &[requested.to_owned()])),
            Asked::Refused(failure) => Err(failure),
        }
    }

    /// The project of a project key, learned from a record that it can read, once.
    pub(super) async fn own_project(&self, call: &CallContext<'_>) -> Result<String, Failure> {
        if let Some(known) = self.session.own_project(&call.key) {
            return Ok(known);
        }

        for list in TELLING {
            if let Some(project) = first_project(call, list).await? {
                self.session.learn_own_project(&call.key, &project);
                return Ok(project);
            }
        }

        Err(Failure::new(
            Code::ProjectRequired,
            "the project of the key cannot be told: it can read no record",
        )
        .hint("pass `project_id`, or ask the person to set TAS_PROJECT_ID"))
    }

    /// Makes sure that every id belongs to the project of project scope.
    pub(super) async fn confirm_inside(
        &self,
        call: &CallContext<'_>,
        project: &str,
        ids: &[ResultId],
    ) -> Result<(), Failure> {
        for id in ids {
            if self.session.owner(id).as_deref() != Some(project) {
                if !has(call, project, id).await? {
                    return Err(not_resolved(&[id], &[project.to_owned()]));
                }
                self.session.learn(project, [id.clone()]);
            }
        }
        Ok(())
    }

    /// The one project that owns all the ids.
    pub(super) async fn common_owner(
        &self,
        call: &CallContext<'_>,
        requested: Option<&str>,
        ids: &[ResultId],
    ) -> Result<String, Failure> {
        let candidates = self.candidates(requested);
        let owners = self.owners(call, ids, &candidates).await?;
        let unknown: Vec<_> =
            ids.iter().zip(&owners).filter(|(_, owner)| owner.is_none()).map(|(id, _)| id).collect();
        if !unknown.is_empty() {
            return Err(not_resolved(&unknown, &candidates));
        }

        let first = owners.first().and_then(Option::as_deref);
        let expected = requested.or(first).unwrap_or_default();

        for (id, owner) in ids.iter().zip(owners.iter().flatten()) {
            if owner != expected && !has(call, expected, id).await? {
                return Err(mismatch(expected, owner, id));
            }
        }

        Ok(expected.to_owned())
    }

    /// The owner of each id. Ids of one call mostly belong together: the owner of the first is asked for the others
    /// side by side, and only those that it does not have are looked for elsewhere, one after the other.
    async fn owners(
        &self,
        call: &CallContext<'_>,
        ids: &[ResultId],
        candidates: &[String],
    ) -> Result<Vec<Option<String>>, Failure> {
        let [first, rest @ ..] = ids else { return Ok(Vec::new()) };
        let likely = self.owner_among(call, first, candidates).await?;
        let asked_first = likely.as_slice();
        let mut owners: Vec<_> = stream::iter(rest.to_vec())
            .map(|id| async move { self.owner_among(call, &id, asked_first).await.ok().flatten() })
            .buffered(AT_ONCE)
            .collect()
            .await;

        for (id, owner) in rest.iter().zip(&mut owners) {
            if owner.is_none() {
                *owner = self.owner_among(call, id, candidates).await?;
            }
        }

        owners.insert(0, likely);

        Ok(owners)
    }

    /// Asks the candidates side by side; the first that has the id ends the search.
    async fn owner_among(
        &self,
        call: &CallContext<'_>,
        id: &ResultId,
        candidates: &[String],
    ) -> Result<Option<String>, Failure> {
        if let Some(owner) = self.session.owner(id) {
            return Ok(Some(owner));
        }

        let mut answers = stream::iter(candidates.to_vec())
            .map(|project| async move {
                let asked = ask(call, id, Some(&project)).await;
                (project, asked)
            })
            .buffer_unordered(AT_ONCE);

        let (mut failed, mut refused, mut absent) = (None, None, false);
        while let Some((project, asked)) = answers.next().await {
            match asked {
                Ok(Asked::Found(_)) => {
                    self.session.learn(&project, [id.clone()]);
                    return Ok(Some(project));
                }
                Ok(Asked::Absent) => absent = true,
                Ok(Asked::Refused(failure)) => refused = Some(failure),
                Err(failure) => failed = Some(failure.detail("project", project.as_str())),
            }
        }

        match failed {
            Some(failure) => Err(failure),
            // A key that may look nowhere is the real problem, not the id.
            None if !absent && refused.is_some() => {
                Err(refused.unwrap_or_else(|| not_resolved(&[id], candidates)))
            }
            None => Ok(None),
        }
    }
}

/// The project of the first record of a list; `None` if it has none, or the key may not read it.
async fn first_project(call: &CallContext<'_>, list: &str) -> Result<Option<String>, Failure> {
    let Some(list) = catalog::find(list) else { return Ok(None) };
    let fields = Fields::from_iter([("page_size".to_owned(), Value::from(1))]);
    let answer = call.send(list, &fields, None).await?;
    if answer.status != 403 && !answer.is_success() {
        return Err(call.refused(list, &answer));
    }

    let page: Value = serde_json::from_slice(&answer.body).unwrap_or_default();

    Ok(page.pointer("/data/0/project_id").and_then(Value::as_str).map(str::to_owned))
}

/// Whether a project has an id. Records and paths may name one project differently (supplement 1.1): asking it is
/// the only way to tell.
async fn has(call: &CallContext<'_>, project: &str, id: &ResultId) -> Result<bool, Failure> {
    Ok(matches!(ask(call, id, Some(project)).await?, Asked::Found(_)))
}

/// Asks one project, or the un-prefixed route, for the record of an id.
async fn ask(call: &CallContext<'_>, id: &ResultId, project: Option<&str>) -> Result<Asked, Failure> {
    let reader = id.kind.entry();
    let answer = match call.send(reader, &id.to_arguments(), project).await {
        Err(failure) if failure.code == Code::NotFound => return Ok(Asked::Absent),
        sent => sent?,
    };

    match answer.status {
        404 => Ok(Asked::Absent),
        401 | 403 => Ok(Asked::Refused(call.refused(reader, &answer))),
        _ if answer.is_success() => Ok(record(&answer).map_or(Asked::Absent, Asked::Found)),
        _ => Err(call.refused(reader, &answer)),
    }
}

fn record(answer: &HttpResponse) -> Option<Fields> {
    match serde_json::from_slice(&answer.body) {
        Ok(Value::Object(record)) => Some(record),
        _ => None,
    }
}
