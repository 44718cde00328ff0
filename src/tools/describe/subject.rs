//! Which record a caller means by an id or a name.

use serde_json::json;

use crate::{
    failure::{Code, Failure},
    service::{
        arguments::is_uuid,
        record_kind::RecordKind,
        result_kind::{ResultId, ResultKind},
    },
    tools::{
        find::{FoundRecord, NameResult, find_name},
        found_result::{FoundResult, is_other_kind},
        reader::Reader,
    },
};

/// A record that was found.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A run, a job or an execution.
    Result(FoundResult),
    /// A record with a name.
    Named(FoundRecord),
}

impl Subject {
    /// The kinds that are found by name.
    pub const NAMED: [RecordKind; 5] = [
        RecordKind::Test,
        RecordKind::TestPlan,
        RecordKind::Build,
        RecordKind::DeploymentConfig,
        RecordKind::Bug,
    ];

    /// Finds the record that has this id or name.
    ///
    /// # Errors
    /// `not_found` and `invalid_arguments` with the records to choose from, and the failures of the look-ups.
    pub(in crate::tools) async fn find(
        reader: &Reader,
        record: &str,
        kind: Option<RecordKind>,
    ) -> Result<Self, Failure> {
        if let Some(of_result) = ResultKind::ALL.into_iter().find(|result| Some((*result).into()) == kind) {
            let id = ResultId::new(of_result, record).without_player();
            return FoundResult::read_by(reader, id).await.map(Self::Result);
        }
        if let Some(kind) = kind_of_id(record, kind) {
            return Ok(Self::Named(FoundRecord::with_id(kind, record)));
        }

        // The id of a run, a job or an execution is one word with digits (service.md 1.7).
        let is_word = !record.contains(char::is_whitespace);
        if kind.is_none() && is_word && record.contains(|character: char| character.is_ascii_digit()) {
            match FoundResult::find_by(reader, record).await {
                Err(failure) if is_other_kind(&failure) => {}
                found => return found.map(Self::Result),
            }
        }

        let kinds = kind.map_or(Self::NAMED.to_vec(), |kind| vec![kind]);
        find_name(reader, &kinds, record).await?.into_single().map(Self::Named).map_err(not_single)
    }
}

/// Returns the kind of an id that needs no search. A device has its fields from its list.
fn kind_of_id(record: &str, kind: Option<RecordKind>) -> Option<RecordKind> {
    match kind {
        None | Some(RecordKind::Bug) => record.starts_with("bug_").then_some(RecordKind::Bug),
        Some(RecordKind::DeploymentConfig) => None,
        kind => kind.filter(|_| is_uuid(record)),
    }
}

fn not_single(found: NameResult) -> Failure {
    let is_found = found.records.iter().any(FoundRecord::has_name);
    let code = if is_found { Code::InvalidArguments } else { Code::NotFound };
    let hint = if found.records.is_empty() {
        "check the id and the project[[; `tool:find_by_name` searches all names]]"
    } else {
        "pass the `id` of a record in `details.records`"
    };

    Failure::new(code, found.problem("record")).hint(hint).detail("records", json!(found.records))
}
