//! Folders of the test repository (service.md 7).

use super::prelude::*;

/// Lists the test folders in alphabetical order, with path, id and parent.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListTestFolders {
    pub page: Option<PageNumber>,
    pub page_size: Option<PageSize<25>>,
}

impl Operation for ListTestFolders {
    const TOOL: ToolInfo = ToolInfo::lists("list_test_folders", "List test folders", Toolset::Tests);
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/test-folders");
    type Answer = ListPage<TestFolder>;
}

/// Creates one folder for tests, in the root or below a parent.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct CreateTestFolder {
    /// Without `/`; no outer whitespace.
    pub name: String,
    /// Such as `Levels/World 1`; `/` is the root. Not with `argument:parent_folder_id`.
    #[schemars(extend("x-or-type" = "null"))]
    pub parent_path: Option<String>,
    /// From `tool:find_by_name/list_test_folders`.
    pub parent_folder_id: Option<Uuid>,
    /// For people.
    pub description: Option<String>,
    /// Tags of the folder.
    pub tags: Option<Vec<String>>,
    /// Creates missing parents instead of failing; default false.
    pub create_intermediate_parents: Option<bool>,
}

impl Operation for CreateTestFolder {
    const TOOL: ToolInfo = ToolInfo::creates("create_test_folder", "Create a test folder", Toolset::Tests)
        .needs("project:edit-tests")
        .rules(&[Rule::Custom(check_name), Rule::Excludes("parent_path", "parent_folder_id")])
        .not_found_hint(|arguments| {
            if arguments.contains_key("parent_folder_id") {
                "the parent does not exist: pass the id of an existing folder[[ from `tool:list_test_folders`]]"
            } else {
                "the parent does not exist: `argument:create_intermediate_parents: true` creates it[[; the existing ones \
                 are in `tool:list_test_folders`]]"
            }
        })
        .conflict_hint("the folder exists: use it[[; its id is in `tool:list_test_folders|find_by_name`]]")
        .recovery_hint("check with `tool:list_test_folders` before another call");
    const REQUEST: RequestInfo = RequestInfo::new(Method::POST, "/test-folders").wrapped_in("test_folder");
    type Answer = CreatedTestFolder;
}

fn check_name(arguments: &Fields, violations: &mut Vec<Violation>) {
    let Some(name) = arguments.get("name").and_then(Value::as_str) else { return };
    let rule = if name.is_empty() {
        "must not be empty"
    } else if name.contains('/') {
        "must not contain `/`: parents go into `argument:parent_path`"
    } else if name.trim() != name {
        "must not begin or end with whitespace"
    } else {
        return;
    };

    violations.push(Violation::new("name", rule));
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct CreatedTestFolder {
    pub id: String,
    pub name: String,
    pub path: String,
    pub parent_folder_id: Option<String>,
    /// `/` for a folder in the root.
    pub parent_path: Option<String>,
    /// Paths of the parent folders that the call created.
    pub created_intermediate_paths: Vec<String>,
    pub description: Option<String>,
    pub tags: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct TestFolder {
    pub id: String,
    /// Last segment of the path.
    pub name: String,
    pub path: String,
    /// `/` or null for a folder in the root.
    pub parent_path: Option<String>,
    pub parent_folder_id: Option<String>,
    pub description: Option<String>,
    pub tags: Vec<String>,
    pub created_at: String,
    pub modified_at: String,
    pub created_by_name: Option<String>,
    pub modified_by_name: Option<String>,
}
