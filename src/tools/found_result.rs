//! The record that an id means, whatever its kind: a run, job or execution; or a record that has a name.

use serde_json::{Value, json};

use crate::{
    call::Caller,
    failure::{Code, Failure},
    service::{
        api::{jobs::Job, runs::Run},
        arguments::is_uuid,
        lenient::view,
        record_kind::{RecordKind, ResultId, ResultKind},
    },
    tools::{
        find::{FoundRecord, NameResult, find_name},
        reader::Reader,
    },
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

/// The record of any kind that an id or a name means.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A run, a job or an execution.
    Result(FoundResult),
    /// A record with a name.
    Named(FoundRecord),
}

impl Subject {
    /// Finds the record that has this id or name.
    ///
    /// # Errors
    /// `not_found` and `invalid_arguments` with the records to choose from, and the failures of the look-ups.
    pub(super) async fn find(
        reader: &Reader,
        record: &str,
        kind: Option<RecordKind>,
    ) -> Result<Self, Failure> {
        if let Some(RecordKind::Result(of_result)) = kind {
            let id = ResultId::new(of_result, record).without_player();
            return FoundResult::read_by(reader, id).await.map(Self::Result);
        }
        if let Some(kind) = kind_of_id(record, kind) {
            return Ok(Self::Named(FoundRecord::with_id(kind, record)));
        }

        if kind.is_none() && may_be_result(record) {
            match FoundResult::find_by(reader, record).await {
                Err(failure) if is_other_kind(&failure) => {}
                found => return found.map(Self::Result),
            }
        }

        let kinds = kind.map_or(RecordKind::DESCRIBED_BY_NAME.to_vec(), |kind| vec![kind]);
        find_name(reader, &kinds, record)
            .await?
            .into_single()
            .map(Self::Named)
            .map_err(|found| not_single(&found))
    }
}

impl NameResult {
    /// Returns the only record that has the name. One with the same letters is meant before one in other letter case, and a
    /// bug in use before archived ones.
    ///
    /// # Errors
    /// The result itself, if no record or several have the name, or may have it.
    pub fn into_single(mut self) -> Result<FoundRecord, Self> {
        let best = self.records.iter().map(|record| record.r#match).min();
        let is_meant = |record: &FoundRecord| record.has_name() && Some(record.r#match) == best;
        let numbered = self.records.iter().enumerate().filter(|(_, record)| is_meant(record));
        let mut meant: Vec<_> = numbered.map(|(place, record)| (place, record.is_archived())).collect();
        if meant.len() > 1 {
            meant.retain(|(_, is_archived)| !is_archived);
        }

        match *meant {
            [(place, _)] if !self.is_uncertain => Ok(self.records.swap_remove(place)),
            _ => Err(self),
        }
    }

    /// Returns why not exactly one record is meant. `nouns` are the kinds of records that were searched.
    pub fn problem(&self, nouns: &str) -> String {
        let Self { name, records, .. } = self;
        let is_found = records.iter().any(FoundRecord::has_name);

        match &self.reason {
            Some(reason) if is_found && self.is_uncertain => {
                format!("other records may be named `{name}`, and not every list could be read: {reason}")
            }
            _ if is_found => format!("`{name}` names {} records", records.len()),
            Some(reason) => {
                format!(
                    "no {nouns} with the name `{name}` was found, and not every list could be read: {reason}"
                )
            }
            None => format!("no {nouns} has the name `{name}`"),
        }
    }
}

/// Returns whether a text may be the id of a run, a job or an execution: one word with digits (service.md 1.7).
fn may_be_result(text: &str) -> bool {
    !text.contains(char::is_whitespace) && text.contains(|character: char| character.is_ascii_digit())
}

/// Returns the kind of an id that needs no search. A device has its fields from its list.
fn kind_of_id(record: &str, kind: Option<RecordKind>) -> Option<RecordKind> {
    match kind {
        None | Some(RecordKind::Bug) => record.starts_with("bug_").then_some(RecordKind::Bug),
        Some(RecordKind::DeploymentConfig) => None,
        kind => kind.filter(|_| is_uuid(record)),
    }
}

fn not_single(found: &NameResult) -> Failure {
    let is_found = found.records.iter().any(FoundRecord::has_name);
    let code = if is_found { Code::InvalidArguments } else { Code::NotFound };
    let hint = if found.records.is_empty() {
        "check the id and the project[[; `tool:find_by_name` searches all names]]"
    } else {
        "pass the `id` of a record in `details.records`"
    };

    Failure::new(code, found.problem("record")).hint(hint).detail("records", json!(found.records))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::find::name_match::NameMatch;

    #[test]
    fn an_id_whose_kind_is_known_needs_no_search() {
        let uuid = "3126ec62-851c-4a5f-bce1-dd354c0912de";
        for (text, kind, expected) in [
            ("bug_7f", None, Some(RecordKind::Bug)),
            ("bug_report_form", Some(RecordKind::Test), None),
            (uuid, Some(RecordKind::Test), Some(RecordKind::Test)),
            (uuid, Some(RecordKind::Bug), None),
            (uuid, Some(RecordKind::DeploymentConfig), None),
            (uuid, None, None),
            ("Release smoke", Some(RecordKind::TestPlan), None),
        ] {
            assert_eq!(kind_of_id(text, kind), expected, "{text} {kind:?}");
        }
    }

    #[test]
    fn a_name_is_not_looked_up_as_an_id() {
        assert!(may_be_result("x03031trjx0") && may_be_result("3126ec62-851c-4a5f-bce1-dd354c0912de"));
        assert!(!may_be_result("Level 3") && !may_be_result("Login"));
    }

    #[test]
    fn one_record_is_meant_if_it_alone_has_the_name_exactly_or_is_in_use_and_no_page_is_missing() {
        let bug = |id: &str, r#match, status: &str| {
            let bug = json!({"id": id, "title": "Crash", "status": status});
            FoundRecord { r#match, ..FoundRecord::from_record(RecordKind::Bug, &bug).expect("an id") }
        };
        let exact = |id, status| bug(id, NameMatch::Exact, status);
        let other_case = bug("b9", NameMatch::Case, "active");
        let near = bug("b9", NameMatch::Beginning, "active");
        for (records, meant) in [
            (vec![exact("b1", "active"), other_case.clone()], Some("b1")),
            (vec![exact("b1", "archived"), exact("b2", "active")], Some("b2")),
            (vec![exact("b1", "active"), exact("b2", "active")], None),
            (vec![other_case], Some("b9")),
            (vec![near], None),
            (vec![], None),
        ] {
            let single = |is_uncertain| {
                let found = NameResult { is_uncertain, ..NameResult::new("Crash", records.clone()) };
                found.into_single().ok().map(|record| record.id)
            };
            assert_eq!((single(false).as_deref(), single(true)), (meant, None), "{records:?}");
        }
    }
}
