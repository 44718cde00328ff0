//! Folders of the test repository (specification, Test folder; supplement 7).
#![expect(
    missing_docs,
    reason = "the service's own names speak for themselves; paging fields are described by their types"
)]

use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ListPage, Page, PageSize};
use crate::operation::{Effect, Operation, Tier, Toolset};

/// Lists the folders of the test repository, alphabetically: paths, ids and parents.
///
/// `path` is the `folder_path` of other tools.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ListTestFolders {
    pub page: Option<Page>,
    pub page_size: Option<PageSize<25>>,
}

impl Operation for ListTestFolders {
    const NAME: &'static str = "list_test_folders";
    const TITLE: &'static str = "List test folders";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/test-folders";
    const EFFECT: Effect = Effect::Reads;
    const TOOLSET: Toolset = Toolset::Tests;
    const TIER: Tier = Tier::Core;
    const PERMISSION: Option<&'static str> = None;
    const ESSENTIAL: &'static [&'static str] = &["data"];
    type Output = ListPage<TestFolder>;
}

/// A folder, list form.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestFolder {
    pub id: String,
    /// Last segment of the path.
    pub name: String,
    pub path: String,
    /// `/` or null at the top.
    pub parent_path: Option<String>,
    pub parent_folder_id: Option<String>,
    pub description: Option<String>,
    pub tags: Vec<String>,
    pub created_at: String,
    pub modified_at: String,
    pub created_by_name: Option<String>,
    pub modified_by_name: Option<String>,
}
