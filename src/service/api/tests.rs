//! Saved tests (service.md 6).

use std::collections::BTreeMap;

use serde::Deserializer;

use super::{
    prelude::*,
    shared_steps::{MANAGED, NewStepBody, STEP_FIELDS, StepBody, refuse_fields, refuse_managed_fields},
};

/// Lists saved tests: all, or those directly in one folder.
///
/// Without a folder, a `warning` says if only those of the root are listed.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListTests {
    /// Such as `Levels/World 1`; `/` is the root. Not with `argument:folder_id`.
    pub folder_path: Option<String>,
    /// From `tool:find_by_name/list_test_folders`.
    pub folder_id: Option<String>,
    /// Every folder, or those in `argument:folder_path`, by default on one page; default false.
    pub all_folders: Option<bool>,
    pub page: Option<PageNumber>,
    pub page_size: Option<PageSize<25>>,
}

/// Argument of `list_tests` for the tests of every folder. The service has no such argument.
pub const ALL_FOLDERS: &str = "all_folders";

impl Operation for ListTests {
    const TOOL: ToolInfo = ToolInfo::lists("list_tests", "List tests", Toolset::Tests)
        .brief("id,name,type,folder_path")
        .rules(&[
            Rule::Excludes("folder_path", "folder_id"),
            Rule::Own(&Rule::Excludes(ALL_FOLDERS, "folder_id")),
        ])
        .extended_by(Extension::EveryFolder);
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/tests").own_arguments(&[ALL_FOLDERS]);
    type Answer = ListPage<TestSummary>;
}

/// Returns a saved test in full: players, steps in order, expected results, time budget, version.
///
/// Items of type `collection` are shared steps[[: `tool:get_shared_step`]].
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetTest {
    /// From `tool:find_by_name/list_tests`.
    pub test_id: Id,
    pub version: Option<ReadVersion>,
    /// Returns steps of collections; default true.
    pub include_shared_collection_steps: Option<bool>,
}

impl GetTest {
    /// Reads the newest version of a test.
    pub fn newest(id: String) -> Self {
        Self { test_id: Id(id), version: None, include_shared_collection_steps: None }
    }
}

impl Operation for GetTest {
    const TOOL: ToolInfo = ToolInfo::reads("get_test", "Get a test", Toolset::Tests);
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/tests/{test_id}");
    type Answer = TestCase;
}

/// Creates a saved test with its players and steps.[[ Example: `tool:get_test`.]]
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct CreateTest {
    /// Keys are in `player_order` and `item_order`.
    #[schemars(schema_with = "passed_through::<NewTest>")]
    pub test: Open,
    /// Default `/`, the root. Not with `argument:folder_id`.
    #[schemars(extend("x-or-type" = "null"))]
    pub folder_path: Option<String>,
    /// From `tool:find_by_name/list_test_folders`.
    pub folder_id: Option<String>,
    /// Returns steps of collections; default true.
    pub include_shared_collection_steps: Option<bool>,
    /// If a shared step is unknown: `error` (default), or `drop` it.
    pub shared_collection_steps_mode: Option<UnknownCollections>,
}

/// Treatment of collection items that cannot be resolved.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum UnknownCollections {
    #[default]
    Error,
    Drop,
}

impl Operation for CreateTest {
    const TOOL: ToolInfo = ToolInfo::creates("create_test", "Create a test", Toolset::Tests)
        .needs("project:edit-tests")
        .rules(&[
            Rule::Excludes("folder_path", "folder_id"),
            Rule::Custom(|arguments, violations| check_content("test", arguments, violations)),
        ])
        .recovery_hint("check with `tool:list_tests` before another call");
    const REQUEST: RequestInfo = RequestInfo::new(Method::POST, "/tests")
        .in_query(&["include_shared_collection_steps", "shared_collection_steps_mode"]);
    type Answer = TestCase;
}

/// Deserializes text that may be `null`. An absent field is `None`, and `null` is `Some(None)`.
#[expect(clippy::option_option, reason = "`null` and an absent field have different meanings")]
fn nullable_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Changes a saved test, or moves it to another folder.
///
/// `patch` is merged, but a list such as `item_order` is replaced. An empty patch only moves the test.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct UpdateTest {
    /// From `tool:find_by_name/list_tests`.
    pub test_id: Id,
    /// From `tool:get_test`.
    pub expected_version: u64,
    /// Changed fields. Null is sent as null.
    #[schemars(schema_with = "passed_through::<TestPatch>")]
    pub patch: Open,
    /// New folder; `/` is the root. Not with `argument:folder_id`.
    #[serde(default, deserialize_with = "nullable_text")]
    #[schemars(with = "Option<String>", extend("x-or-type" = "null"))]
    pub folder_path: Option<Option<String>>,
    /// From `tool:find_by_name/list_test_folders`.
    pub folder_id: Option<String>,
    /// Returns steps of collections; default true.
    pub include_shared_collection_steps: Option<bool>,
    /// If a shared step is unknown: `error` (default), or `drop` it.
    pub shared_collection_steps_mode: Option<UnknownCollections>,
}

impl Operation for UpdateTest {
    const TOOL: ToolInfo = ToolInfo::replaces("update_test", "Update a test", Toolset::Tests)
        .needs("project:edit-tests")
        .rules(&[
            Rule::Excludes("folder_path", "folder_id"),
            Rule::Custom(|arguments, violations| {
                refuse_fields(arguments, "patch", &["id"], "cannot be changed", violations);
                check_content("patch", arguments, violations);
            }),
        ])
        .recovery_hint("call `tool:get_test`: `version` is one higher if the change was made")
        // What the lists of the record lose is known only after it is read.
        .asks_confirmation(|_| None);
    // `shared_collection_steps_mode` travels in the body here, unlike in `create_test` (service.md 6.4).
    const REQUEST: RequestInfo = RequestInfo::new(Method::PATCH, "/tests/{test_id}")
        .in_query(&["include_shared_collection_steps"])
        .current_record(GetTest::NAME)
        .asks_if_shorter(&["player_order", "item_order", "step_order"]);
    type Answer = TestCase;
}

fn check_content(holder: &str, arguments: &Fields, violations: &mut Vec<Violation>) {
    let Some(content) = arguments.get(holder) else { return };
    refuse_fields(arguments, holder, &STEP_FIELDS, MANAGED, violations);
    refuse_managed_fields(content.get("players_by_key"), &format!("{holder}.players_by_key"), violations);

    // The service answers 400 to `min_seconds` of a verification test (service.md 6.2).
    let is_verification = content.get("test_type").is_some_and(|kind| kind == "verification");
    if is_verification && content.get("min_seconds").is_some() {
        let rule = "verification tests have no minimum time: leave the field out";
        violations.push(Violation::new(format!("{holder}.min_seconds"), rule));
    }
}

/// Deletes a saved test permanently.
///
/// Fails with `conflict` while runs of the test exist, unless `delete_associated_jobs` or `force_delete` is true.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct DeleteTest {
    /// From `tool:find_by_name/list_tests`.
    pub test_id: Id,
    /// Deletes its jobs and runs too; default false.
    pub delete_associated_jobs: Option<bool>,
    /// Deletes the test even if runs exist; default false.
    pub force_delete: Option<bool>,
}

impl Operation for DeleteTest {
    const TOOL: ToolInfo = ToolInfo::deletes("delete_test", "Delete a test", Toolset::Tests).extra()
        .needs("project:edit-tests")
        .conflict_hint(
            "the test has runs: ask the person whether they may be lost too, then pass `argument:force_delete` or `argument:delete_associated_jobs`",
        )
        .recovery_hint("call `tool:get_test`: `not_found` means that the test is deleted")
        .asks_confirmation(test_deletion_question);
    const REQUEST: RequestInfo = RequestInfo::new(Method::DELETE, "/tests/{test_id}")
        .in_body(&["delete_associated_jobs", "force_delete"]);
    type Answer = Deleted;
}

fn test_deletion_question(arguments: &Fields) -> Option<String> {
    let is_true = |name: &str| arguments.get(name) == Some(&Value::Bool(true));
    let more = match (is_true("delete_associated_jobs"), is_true("force_delete")) {
        (true, _) => " with all its jobs and runs",
        (false, true) => ", even if runs of it exist",
        (false, false) => "",
    };

    deletion_question(arguments).map(|question| question + more)
}

#[derive(Debug, JsonSchema)]
pub struct NewTest {
    pub name: String,
    pub id: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "entries_passed_through::<NewPlayer>")]
    pub players_by_key: Option<Open>,
    #[serde(flatten)]
    pub known: KnownTestFields,
}

#[derive(Debug, JsonSchema)]
pub struct TestPatch {
    pub name: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "entries_passed_through::<NewPlayer>")]
    pub players_by_key: Option<Open>,
    #[serde(flatten)]
    pub known: KnownTestFields,
}

#[derive(Debug, JsonSchema)]
pub struct KnownTestFields {
    pub incident_auto_approve: Option<bool>,
    /// 0-19800.
    #[schemars(range(min = 0, max = 19_800))]
    pub max_seconds: Option<u32>,
    #[schemars(extend("enum" = ["disabled", "read_only", "read_write"], "x-or-type" = "null"))]
    pub memory: Option<String>,
    /// 0-19800; not for verification.
    #[schemars(range(min = 0, max = 19_800))]
    pub min_seconds: Option<u32>,
    pub player_order: Option<Vec<String>>,
    pub quarantined: Option<bool>,
    #[schemars(extend("enum" = ["repository", "bot"]))]
    pub source: Option<String>,
    pub tags: Option<Vec<String>>,
    #[schemars(extend("enum" = ["verification", "discovery", "task"]))]
    pub test_type: Option<String>,
    #[schemars(extend("x-or-type" = "null"))]
    pub tmsys: Option<Open>,
}

// The usual fields of a player. Their shape depends on the kind of test, and is known for verification only (service.md 6.2).
#[derive(Debug, JsonSchema)]
pub struct NewPlayer {
    pub name: Option<String>,
    pub agent_config_id: Option<String>,
    pub items_by_key: Option<BTreeMap<String, NewItem>>,
    pub item_order: Option<Vec<String>>,
}

// A step, or a collection of steps.
#[derive(Debug, JsonSchema)]
pub struct NewItem {
    #[schemars(extend("enum" = ["step", "collection"]))]
    pub r#type: Option<String>,
    pub collection_id: Option<String>,
    #[serde(flatten)]
    pub step: NewStepBody,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct TestSummary {
    pub id: String,
    pub name: String,
    /// `verification`, `discovery` or `task`.
    pub r#type: String,
    pub folder_id: Option<String>,
    /// `/` in the root.
    pub folder_path: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct TestCase {
    pub id: String,
    pub project_id: String,
    pub name: String,
    pub version: u32,
    pub tags: Vec<String>,
    /// `verification`, `discovery` or `task`.
    pub test_type: String,
    #[serde(flatten)]
    pub content: TestContent,
}

impl TestCase {
    /// Returns the names of the players by their numbers. A player without a name has its key.
    pub fn player_names(&self) -> BTreeMap<usize, String> {
        let name = |key: &String| {
            let player = self.content.players_by_key.get(key);
            player.and_then(|player| player.name.clone()).unwrap_or_else(|| key.clone())
        };
        (1..).zip(self.content.player_order.iter().map(name)).collect()
    }
}

/// The fields of a test that its list form does not have.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct TestContent {
    pub incident_auto_approve: bool,
    pub quarantined: bool,
    /// Linked cases of the test-management system.
    pub tmsys: Option<Open>,
    pub source: Option<String>,
    /// Null for verification tests.
    pub min_seconds: Option<i64>,
    pub max_seconds: Option<i64>,
    /// `disabled`, `read_only` or `read_write`; null: default of the project.
    pub memory: Option<String>,
    pub players_by_key: BTreeMap<String, TestPlayer>,
    pub player_order: Vec<String>,
    #[serde(flatten)]
    pub more: Open,
}

/// A player of a test. Players of discovery and task tests can have other fields.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct TestPlayer {
    pub name: Option<String>,
    pub agent_config_id: Option<String>,
    pub game_funcs_config_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items_by_key: Option<BTreeMap<String, TestItem>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_order: Option<Vec<String>>,
    #[serde(flatten)]
    pub more: Open,
}

/// A step of a player, or a shared collection of steps.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct TestItem {
    /// `step` or `collection`.
    pub r#type: String,
    /// For collections: id of the shared step collection.
    pub collection_id: Option<String>,
    pub steps_by_key: Option<BTreeMap<String, StepBody>>,
    pub step_order: Option<Vec<String>>,
    #[serde(flatten)]
    pub step: StepBody,
}
