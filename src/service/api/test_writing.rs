//! Creating and changing saved tests (supplement 6.3, 6.4).
#![expect(missing_docs, reason = "the service's own names speak for themselves")]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Id, Open, nullable_text, refuse_fields,
    step_writing::{MANAGED, OF_STEPS, managed},
    tests::{ListTests, TestCase},
};
use crate::{
    fields::Fields,
    service::{
        operation::{DuplicateCheck, FieldMatch, ListProbe, Operation, Probe, RequestInfo},
        rule::Rule,
        schema::passed_through,
        tool::{ToolInfo, Toolset},
    },
    violation::Violation,
};

/// Creates a saved test with its players and steps.
///
/// See `get_test` of a similar test for the format: `test_type` (verification, discovery, task), `players_by_key` and
/// `player_order`. A player has `items_by_key` and `item_order`. An item is
/// `{"type": "step", "goal", "expected_results": [{"expected"}]}` or `{"type": "collection", "collection_id"}`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct CreateTest {
    /// `name` is required. `max_seconds` is at most 19800. `min_seconds` is not for verification. No `test_step_id`.
    #[schemars(schema_with = "passed_through::<NewTest>")]
    pub test: Open,
    /// Default `/`, the root. Excludes `folder_id`.
    #[schemars(extend("x-or-type" = "null"))]
    pub folder_path: Option<String>,
    pub folder_id: Option<String>,
    /// Default true.
    #[schemars(extend("default" = true))]
    pub include_shared_collection_steps: Option<bool>,
    /// Treatment of unknown collections; default `error`. `drop` leaves them out.
    #[schemars(extend("default" = "error"))]
    pub shared_collection_steps_mode: Option<UnknownCollections>,
}

impl Operation for CreateTest {
    const TOOL: ToolInfo = ToolInfo::creates("create_test", "Create a test", Toolset::Tests)
        .core()
        .needs("project:edit-tests")
        .rules(&[
            Rule::Excludes("folder_path", "folder_id"),
            Rule::Custom(|arguments, violations| check_content("test", arguments, violations)),
        ])
        .recovery_hint("check with `list_tests` before another call");
    const REQUEST: RequestInfo = RequestInfo::post("/tests")
        .query_fields(&["include_shared_collection_steps", "shared_collection_steps_mode"])
        .duplicate_checks(&[
            DuplicateCheck {
                when_given: Some("folder_id"),
                probe: Probe::List(ListProbe { filters: &["folder_id"], ..TESTS }),
                advice: COMPARE,
            },
            DuplicateCheck {
                when_given: Some("folder_path"),
                probe: Probe::List(ListProbe { filters: &["folder_path"], ..TESTS }),
                advice: COMPARE,
            },
            DuplicateCheck {
                when_given: None,
                probe: Probe::List(ListProbe {
                    matches: &[
                        FieldMatch::new("name", "test.name"),
                        FieldMatch::new("id", "test.id"),
                        FieldMatch::new("folder_path", "folder_path").or_null("/"),
                    ],
                    ..TESTS
                }),
                advice: COMPARE,
            },
        ]);
    type Answer = TestCase;
}

/// Search for a new test. The list has no creation times (supplement 6.1).
const TESTS: ListProbe = ListProbe {
    list: ListTests::NAME,
    filters: &[],
    newest_first: &[],
    matches: &[FieldMatch::new("name", "test.name"), FieldMatch::new("id", "test.id")],
    created_at: None,
    shown_fields: &["id", "name", "folder_path"],
};

/// Advice for a test that matches the arguments.
const COMPARE: &str = "compare it with `get_test`";

/// Changes a saved test, or moves it to another folder.
///
/// First read the test with `get_test`. `patch` is merged into the test, but a list such as `item_order`, `tags` or
/// `expected_results` replaces the whole list. An empty patch with a folder only moves the test.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct UpdateTest {
    /// From `list_tests`.
    pub test_id: Id,
    /// `version` of the latest `get_test`.
    pub expected_version: u64,
    /// The changed fields, as in `get_test`. Not `id` or `test_step_id`. Null may not delete a key.
    #[schemars(schema_with = "passed_through::<TestPatch>")]
    pub patch: Open,
    /// New folder; `/` is the root. Excludes `folder_id`.
    #[serde(default, deserialize_with = "nullable_text")]
    #[schemars(with = "Option<String>", extend("x-or-type" = "null"))]
    pub folder_path: Option<Option<String>>,
    pub folder_id: Option<String>,
    /// Default true.
    #[schemars(extend("default" = true))]
    pub include_shared_collection_steps: Option<bool>,
    /// Default `error`; as in `create_test`.
    #[schemars(extend("default" = "error", "x-short" = true))]
    pub shared_collection_steps_mode: Option<UnknownCollections>,
}

impl Operation for UpdateTest {
    const TOOL: ToolInfo = ToolInfo::replaces("update_test", "Update a test", Toolset::Tests)
        .core()
        .needs("project:edit-tests")
        .rules(&[
            Rule::Excludes("folder_path", "folder_id"),
            Rule::Custom(|arguments, violations| {
                refuse_fields(arguments, "patch", &["id"], "cannot be changed", violations);
                check_content("patch", arguments, violations);
            }),
        ])
        .recovery_hint(
            "check with `get_test` before another call: `version` is one higher if the change was made",
        );
    const REQUEST: RequestInfo =
        RequestInfo::patch("/tests/{test_id}").query_fields(&["include_shared_collection_steps"]);
    type Answer = TestCase;
}

/// Treatment of collection items that cannot be resolved.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum UnknownCollections {
    #[default]
    Error,
    Drop,
}

fn check_content(holder: &str, arguments: &Fields, violations: &mut Vec<Violation>) {
    let Some(content) = arguments.get(holder) else { return };
    refuse_fields(arguments, holder, &OF_STEPS, MANAGED, violations);
    managed(content.get("players_by_key"), &format!("{holder}.players_by_key"), violations);

    let is_verification = content.get("test_type").is_some_and(|kind| kind == "verification");
    if is_verification && content.get("min_seconds").is_some() {
        let rule = "verification tests have no minimum time: leave the field out";
        violations.push(Violation::new(format!("{holder}.min_seconds"), rule));
    }
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum TestType {
    Verification,
    Discovery,
    Task,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    Disabled,
    ReadOnly,
    ReadWrite,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    Repository,
    Bot,
}

// The known fields of a new test.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; the test itself is read as JSON")]
struct NewTest {
    name: String,
    id: Option<String>,
    #[serde(flatten)]
    known: KnownTestFields,
}

// The known fields of a patch.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used; the patch itself is merged as JSON")]
struct TestPatch {
    name: Option<String>,
    #[serde(flatten)]
    known: KnownTestFields,
}

// The known fields of both.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct KnownTestFields {
    incident_auto_approve: Option<bool>,
    #[schemars(range(min = 0, max = 19_800))]
    max_seconds: Option<u32>,
    #[schemars(extend("x-or-type" = "null"))]
    memory: Option<Memory>,
    #[schemars(range(min = 0, max = 19_800))]
    min_seconds: Option<u32>,
    player_order: Option<Vec<String>>,
    players_by_key: Option<BTreeMap<String, Open>>,
    quarantined: Option<bool>,
    source: Option<Source>,
    tags: Option<Vec<String>>,
    test_type: Option<TestType>,
    #[schemars(extend("x-or-type" = "null"))]
    tmsys: Option<Open>,
}
