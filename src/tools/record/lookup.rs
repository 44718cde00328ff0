//! Which record a caller means by an id or a name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::RecordId;
use crate::{
    call::Caller,
    failure::{Code, Failure},
    service::{
        arguments::is_uuid,
        result_kind::{ResultId, ResultKind},
    },
    tools::{
        call_options::CallOptions,
        found_result::{FoundResult, is_other_kind},
        name_search::{NameMatch, NameResult, NameSearch, RecordKind},
    },
};

/// Beginning of the ids of bugs.
const BUG_PREFIX: &str = "bug_";

// A kind of record that can be described. No doc comment, because it would become part of the description of the argument.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names of the service are self-explanatory")]
pub enum DescribedKind {
    #[default]
    Run,
    Job,
    TestPlanExecution,
    Test,
    TestPlan,
    Build,
    DeploymentConfig,
    Bug,
}

/// The kinds that have names, in the order in which records are shown.
const NAMED_KINDS: [RecordKind; 5] = [
    RecordKind::Test,
    RecordKind::TestPlan,
    RecordKind::Build,
    RecordKind::DeploymentConfig,
    RecordKind::Bug,
];

impl RecordId {
    /// Finds the record that has this id or name.
    ///
    /// # Errors
    /// `not_found` and `invalid_arguments` with the records to choose from, and the failures of the look-ups.
    pub async fn find(
        caller: &Caller,
        project: Option<&str>,
        record: &str,
        kind: Option<DescribedKind>,
    ) -> Result<Self, Failure> {
        let named = match kind {
            Some(DescribedKind::Run) => return Ok(Self::of_result(ResultKind::Run, record)),
            Some(DescribedKind::Job) => return Ok(Self::of_result(ResultKind::Job, record)),
            Some(DescribedKind::TestPlanExecution) => {
                return Ok(Self::of_result(ResultKind::Execution, record));
            }
            Some(DescribedKind::Test) => Some(RecordKind::Test),
            Some(DescribedKind::TestPlan) => Some(RecordKind::TestPlan),
            Some(DescribedKind::Build) => Some(RecordKind::Build),
            Some(DescribedKind::DeploymentConfig) => Some(RecordKind::DeploymentConfig),
            Some(DescribedKind::Bug) => Some(RecordKind::Bug),
            None => None,
        };

        if let Some(id) = Self::by_form(record, named) {
            return Ok(id);
        }
        if named.is_none() && may_be_result(record) {
            match FoundResult::find(caller, project, record).await {
                Ok(found) => return Ok(Self::Result(found.id)),
                Err(failure) if is_other_kind(&failure) => {}
                Err(failure) => return Err(failure),
            }
        }

        let kinds = named.map_or(NAMED_KINDS.to_vec(), |kind| vec![kind]);
        let search = NameSearch { names: vec![record.to_owned()], kinds, with_details: false };
        let answer = search.run(caller, project.map(str::to_owned), &CallOptions::silent()).await?;
        let missing = || Failure::new(Code::BadResponse, format!("the search for `{record}` has no result"));
        let found = answer.results.into_iter().next().ok_or_else(missing)?;

        found.into_single().map(|found| Self::Named(found.kind, found.id)).map_err(not_single)
    }

    fn of_result(kind: ResultKind, id: &str) -> Self {
        Self::Result(ResultId::new(kind, id).without_player())
    }

    /// Returns the record if the form of the text decides it: an id whose kind is known needs no search.
    fn by_form(record: &str, kind: Option<RecordKind>) -> Option<Self> {
        if record.starts_with(BUG_PREFIX) && kind.is_none_or(|kind| kind == RecordKind::Bug) {
            return Some(Self::Named(RecordKind::Bug, record.to_owned()));
        }
        let kind = kind.filter(|kind| *kind != RecordKind::Bug && is_uuid(record))?;
        Some(Self::Named(kind, record.to_owned()))
    }
}

/// Returns whether a text may be the id of a run, a job or an execution: one word with digits (service.md 1.7).
fn may_be_result(text: &str) -> bool {
    !text.contains(char::is_whitespace) && text.contains(|character: char| character.is_ascii_digit())
}

/// Returns the failure for a name that not exactly one record has.
fn not_single(found: NameResult) -> Failure {
    let NameResult { name, r#match, reason, records } = found;
    let (code, message) = match r#match {
        NameMatch::Exact | NameMatch::Case => {
            (Code::InvalidArguments, format!("`{name}` names {} records", records.len()))
        }
        NameMatch::Incomplete => {
            let reason = reason.unwrap_or_default();
            (Code::NotFound, format!("no record `{name}` was found, and lists are missing: {reason}"))
        }
        NameMatch::Similar | NameMatch::None => {
            (Code::NotFound, format!("no record has the id or the name `{name}`"))
        }
    };
    let hint = if records.is_empty() {
        "check the id and the project[[; `tool:find_by_name` searches all names]]"
    } else {
        "pass the `id` of a record in `details.records`"
    };

    Failure::new(code, message).hint(hint).detail("records", json!(records))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_whose_kind_is_known_needs_no_search() {
        let uuid = "3126ec62-851c-4a5f-bce1-dd354c0912de";
        let named = |kind, id: &str| Some(RecordId::Named(kind, id.to_owned()));
        for (text, kind, expected) in [
            ("bug_7f", None, named(RecordKind::Bug, "bug_7f")),
            ("bug_report_form", Some(RecordKind::Test), None),
            (uuid, Some(RecordKind::Test), named(RecordKind::Test, uuid)),
            (uuid, Some(RecordKind::Bug), None),
            (uuid, None, None),
            ("Release smoke", Some(RecordKind::TestPlan), None),
        ] {
            assert_eq!(RecordId::by_form(text, kind), expected, "{text} {kind:?}");
        }
    }

    #[test]
    fn a_name_is_not_looked_up_as_an_id() {
        assert!(may_be_result("x03031trjx0") && may_be_result("3126ec62-851c-4a5f-bce1-dd354c0912de"));
        assert!(!may_be_result("Level 3") && !may_be_result("Login"));
    }
}
